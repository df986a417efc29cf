import type { FieldError } from '@terrane/core'

import { levelUnsupported, manifestInvalid, tileSizeUnsupported } from '../errors.ts'
import { boolean, list, nullable, number, oneOf, optional, record, text } from './checks.ts'
import { FILES, TEXT, type ModelFile, type TextManifest } from './text-manifest.ts'

export type { ModelFile } from './text-manifest.ts'

/** One embedding per tile, or one per patch of a tile. */
export type EmbeddingLevel = 'tile' | 'patch'

/** How an output tensor becomes one vector per tile. */
export type Pooling =
  /** `[batch, dims]`, without pooling. */
  | 'none'
  /** `[batch, tokens, dims]`: the first token. */
  | 'first-token'
  /** `[batch, tokens, dims]`: the mean over all tokens. */
  | 'mean-tokens'
  /** `[batch, tokens, dims]`: the first token, then the mean of those after `skip`: half of `dims` each. */
  | 'first-and-mean'
  /** `[batch, dims, height, width]`: the mean over all positions. */
  | 'mean-positions'
  /** `[batch, height, width, dims]`: the mean over all positions. */
  | 'mean-positions-last'

const POOLINGS = [
  'none',
  'first-token',
  'mean-tokens',
  'first-and-mean',
  'mean-positions',
  'mean-positions-last',
] as const satisfies readonly Pooling[]

/** Value of an input beside the pixels, from the request, the raster and its profile. */
const EXTRAS = [
  /** Sine and cosine of the week (2π/52), then of the hour (2π/24). */
  'week-hour-waves',
  /** The year and the day of the year, from 1. */
  'year-day',
  /** Day of the month, month from 0, year. */
  'day-month-year',
  /** Degrees. */
  'latitude-longitude',
  /** Sine and cosine of the latitude, then of the longitude. */
  'latitude-longitude-waves',
  /** Meters per pixel. */
  'gsd',
  /** Wavelength of each channel, in micrometers. */
  'wavelengths',
  /** The numbers in `values`. */
  'constant',
] as const

export interface ExtraInput {
  readonly name: string
  readonly is: (typeof EXTRAS)[number]
  readonly values?: readonly number[] | undefined
}

/** Orders of the axes of an image: tiles, channels, dates, rows, columns. */
export const LAYOUTS = ['nchw', 'nhwc', 'ncthw', 'ntchw'] as const

/**
 * Description of a model: the content of `<id>.json` in the model directory. Fields are required unless stated
 * otherwise, unknown ones are refused.
 */
export interface ModelManifest {
  readonly id: string
  readonly title: string
  readonly description: string
  /** `handcrafted`: fixed filters; `neural`: trained weights. */
  readonly kind: 'neural' | 'handcrafted'
  readonly pretrained: boolean
  readonly licence: { readonly name: string; readonly url: string | null; readonly notice: string | null }
  /** Commit or version of the files; part of their path. */
  readonly revision: string
  /** The graph first, then its external data. */
  readonly files: readonly ModelFile[]
  readonly input: {
    readonly name: string
    /** The only size that the graph accepts; null when tiles are fed in their own size, as `tile` allows. */
    readonly size: { readonly width: number; readonly height: number } | null
    /** Meaning of each channel, in order. */
    readonly bands: readonly string[]
    /**
     * Unit of `mean` and `std`: values scaled to [0, 1] (when absent), reflectance or decibels by the profile of the
     * sensor, or the numbers as they are stored.
     */
    readonly unit?: 'scaled' | 'reflectance' | 'decibel' | 'stored' | undefined
    /** Per channel, in that unit. */
    readonly mean: readonly number[]
    readonly std: readonly number[]
    /** Maximum tiles per run. A graph with a fixed batch has that batch here, and its last run is padded. */
    readonly batch: number
    /** Type of the tensor; `float32` when absent. Bytes represent values scaled to [0, 1]: 0 to 255, or -128 to 127. */
    readonly type?: 'float32' | 'float16' | 'uint8' | 'int8' | undefined
    /** Order of the axes, `t` a time axis of one date; `nchw` when absent. */
    readonly layout?: (typeof LAYOUTS)[number] | undefined
  }
  /** Inputs of the graph beside the pixels. */
  readonly extra_inputs?: readonly ExtraInput[] | undefined
  /** Candidate outputs; the first one in the graph gives the tile's embedding. */
  readonly outputs: readonly {
    readonly name: string
    readonly pooling: Pooling
    /** Number of leading tokens (class and registers) that a mean leaves out; 0 when absent. */
    readonly skip?: number | undefined
  }[]
  /** Length of an embedding. */
  readonly dims: number
  /** Sides of tiles in pixels. */
  readonly tile: { readonly min: number; readonly multiple: number; readonly default: number }
  /**
   * Output with patch tokens; null for a model without them. A sequence `[batch, skip + patches, dims]` has `skip` other
   * tokens first; a map is `[batch, dims, rows, columns]` or `[batch, rows, columns, dims]`.
   */
  readonly patches: {
    readonly output: string
    readonly size: number
    readonly skip: number
    /** `tokens` when absent. */
    readonly layout?: 'tokens' | 'map' | 'map-last' | undefined
  } | null
  /** Patches in a tile of the default size; 1 without patches. */
  readonly patches_per_tile: number
  /** Text part of the model; absent when it embeds no texts. */
  readonly text?: TextManifest | undefined
}

const isManifest = record<ModelManifest>({
  id: text(/^[a-z0-9][a-z0-9._-]{0,99}$/, 'must be lower-case letters, digits, ".", "_" and "-", at most 100'),
  title: text(),
  description: text(),
  kind: oneOf('neural', 'handcrafted'),
  pretrained: boolean(),
  licence: record({
    name: text(),
    url: nullable(text(/^https?:\/\//, 'must be a URL or null')),
    notice: nullable(text()),
  }),
  revision: text(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'must be a commit or version: letters, digits, ".", "_" and "-"'),
  files: FILES,
  input: record({
    name: text(),
    size: nullable(record({ width: number(1, 8192, true), height: number(1, 8192, true) })),
    bands: list(text(), 1, 64),
    unit: optional(oneOf('scaled', 'reflectance', 'decibel', 'stored')),
    mean: list(number(-1e6, 1e6), 1, 64),
    std: list(number(1e-9, 1e6), 1, 64),
    batch: number(1, 64, true),
    type: optional(oneOf('float32', 'float16', 'uint8', 'int8')),
    layout: optional(oneOf(...LAYOUTS)),
  }),
  extra_inputs: optional(
    list(record({ name: text(), is: oneOf(...EXTRAS), values: optional(list(number(-1e9, 1e9), 1, 4096)) }), 0, 16),
  ),
  outputs: list(record({ name: text(), pooling: oneOf(...POOLINGS), skip: optional(number(0, 1024, true)) }), 1, 8),
  dims: number(1, 16_000, true),
  tile: record({
    min: number(1, 8192, true),
    multiple: number(1, 8192, true),
    default: number(1, 8192, true),
  }),
  patches: nullable(
    record({
      output: text(),
      size: number(1, 512, true),
      skip: number(0, 1024, true),
      layout: optional(oneOf('tokens', 'map', 'map-last')),
    }),
  ),
  patches_per_tile: number(1, 2 ** 26, true),
  text: optional(TEXT),
})

/**
 * Checks the content of a manifest file.
 *
 * @param source name of the manifest in errors
 * @throws MODEL_MANIFEST_INVALID with one entry in `errors` per field
 */
export function parseManifest(value: unknown, source: string): ModelManifest {
  const errors: FieldError[] = []
  if (isManifest(value, '', errors)) {
    checkConsistency(value, errors)
    if (errors.length === 0) return value
  }
  const problem = errors.map(({ path, message }) => `${path || 'it'} ${message}`).join('; ')
  throw manifestInvalid({ source, problem }, { errors })
}

/** True when every file has a size and a checksum. */
export function isPinned(manifest: ModelManifest): boolean {
  return manifest.files.every((file) => file.size !== null && file.sha256 !== null)
}

/** Layout of the patches of a tile: rows from the top, patches of a row from the left; sizes in pixels of the tile. */
export interface PatchGrid {
  readonly columns: number
  readonly rows: number
  readonly width: number
  readonly height: number
}

/**
 * The patches of a tile of `tileSize` pixels.
 *
 * @throws LEVEL_UNSUPPORTED when the model has no patches
 */
export function patchGrid(manifest: ModelManifest, tileSize: number): PatchGrid {
  if (!manifest.patches) throw levelUnsupported({ id: manifest.id })
  const { width, height } = manifest.input.size ?? { width: tileSize, height: tileSize }
  const columns = Math.floor(width / manifest.patches.size)
  const rows = Math.floor(height / manifest.patches.size)
  const size = manifest.patches.size
  return { columns, rows, width: (size * tileSize) / width, height: (size * tileSize) / height }
}

/**
 * Number of embeddings per tile.
 *
 * @throws LEVEL_UNSUPPORTED when the model has no patches
 */
export function embeddingsPerTile(manifest: ModelManifest, level: EmbeddingLevel, tileSize: number): number {
  if (level === 'tile') return 1
  const { columns, rows } = patchGrid(manifest, tileSize)
  return columns * rows
}

/** @throws TILE_SIZE_UNSUPPORTED when the model does not take tiles of this side, in pixels */
export function checkTileSize(manifest: ModelManifest, tileSize: number): void {
  const { min, multiple } = manifest.tile
  if (Number.isSafeInteger(tileSize) && tileSize >= min && tileSize % multiple === 0) return
  throw tileSizeUnsupported({ id: manifest.id, tileSize, min, multiple })
}

function checkConsistency(manifest: ModelManifest, errors: FieldError[]): void {
  const { files, input, tile, patches, patches_per_tile: patchesPerTile } = manifest
  const channels = input.bands.length
  if (input.mean.length !== channels)
    errors.push({ path: '/input/mean', message: `must have ${channels} entries, as bands has` })
  if (input.std.length !== channels)
    errors.push({ path: '/input/std', message: `must have ${channels} entries, as bands has` })
  const byte = input.type === 'uint8' || input.type === 'int8'
  if (byte && [...input.mean.map((mean) => mean !== 0), ...input.std.map((std) => std !== 1)].some(Boolean)) {
    errors.push({
      path: '/input/type',
      message: `must have mean 0 and std 1 as ${input.type}: bytes are not normalised`,
    })
  }
  for (const [i, { is, values }] of (manifest.extra_inputs ?? []).entries()) {
    if ((is === 'constant') === (values !== undefined)) continue
    errors.push({ path: `/extra_inputs/${i}/values`, message: 'must stand beside "is": "constant" and nowhere else' })
  }
  if (manifest.dims % 2 === 1 && manifest.outputs.some(({ pooling }) => pooling === 'first-and-mean')) {
    errors.push({ path: '/dims', message: 'must be even for pooling first-and-mean' })
  }
  if (new Set(files.map((file) => file.path)).size !== files.length) {
    errors.push({ path: '/files', message: 'must not name a path twice' })
  }
  if (manifest.text && !manifest.text.files.some(({ path }) => path === manifest.text?.tokenizer)) {
    errors.push({ path: '/text/tokenizer', message: 'must be the path of one of text.files' })
  }
  if (tile.default < tile.min || tile.default % tile.multiple !== 0) {
    errors.push({ path: '/tile/default', message: `must be a multiple of ${tile.multiple}, at least ${tile.min}` })
  }
  if (patches && !input.size && tile.multiple % patches.size !== 0) {
    errors.push({ path: '/tile/multiple', message: `must be a multiple of the patch size ${patches.size}` })
  }
  const expected = patches ? embeddingsPerTile(manifest, 'patch', tile.default) : 1
  if (patchesPerTile !== expected) {
    errors.push({ path: '/patches_per_tile', message: `must be ${expected} for tiles of ${tile.default} pixels` })
  }
}
