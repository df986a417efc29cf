import { deflateSync } from 'node:zlib'
import type { Guard } from '../errors.ts'
import { readHeader } from '../geotiff/directory.ts'
import { KEY } from '../crs/geo-keys.ts'
import { TAG } from '../geotiff/tags.ts'
import {
  HEADER_BYTES,
  gdalMetadata,
  longField,
  shortField,
  tiffDirectories,
  tiffHeader,
  tiffText,
} from '../geotiff/write-tiff.ts'
import type { TiffField } from '../geotiff/write-tiff.ts'
import { SAMPLE_BYTES } from '../decode/samples.ts'
import type { PixelRect } from '../plan.ts'
import type { ByteSource } from '../source.ts'
import { openSceneFile, readPiece } from './piece-reader.ts'
import type { OpenedFile, TileValues } from './piece-reader.ts'
import { STACK_TILE, planStack } from './plan-stack.ts'
import type { PlannedBand, StackPlan } from './plan-stack.ts'
import { samplesOf } from './sample-types.ts'
import type { Scene, SceneMask } from './scene.ts'

/** Memory for decoded blocks of all files. */
const CACHE_BYTES = 256 * 1024 * 1024

/** A band that covers only a part of the grid. */
export interface PartialBand {
  /** Its name, or its number from 1. */
  readonly band: string
  /** Covered share of the grid. */
  readonly cover: number
}

/** Target of a written file. */
export interface ByteSink {
  /** Writes at a position of the file. */
  write(bytes: Uint8Array, position: number): void
}

/**
 * Writes a scene as one GeoTIFF: a BigTIFF with a plane per band, in tiles of 512 pixels without compression; tiles
 * without data take no space. Pixels are copied where grids agree, else resampled as the scene says; flags and classes
 * are never interpolated. A pixel that is missing in any band is masked: the files have different "no data" values and
 * extents, so the output has a mask instead.
 *
 * @param sources the files of the scene, by their number
 * @returns the bands whose files cover only a part of the grid, with that share
 * @throws what `openGeoTiff` throws, SCENE_UNUSABLE, UNSUPPORTED_LAYOUT, size_guard_exceeded, CORRUPT_TILE
 */
export async function stackScene(
  sources: readonly ByteSource[],
  scene: Scene,
  sink: ByteSink,
  maxBytes?: Guard,
): Promise<PartialBand[]> {
  const files = sources.map((source) => openSceneFile(source, Math.floor(CACHE_BYTES / sources.length)))
  const plan = planStack(
    files.map(({ raster }) => raster),
    scene,
    maxBytes,
  )
  const tiles = new TileWriter(plan, sink)
  for (const [index, rect] of tilesOf(plan).entries()) {
    const masked = await maskOf(plan, scene.mask, files, rect)
    const bands: TileValues[] = []
    for (const band of plan.bands) bands.push(await readBand(band, { files, ownMasks: scene.ownMasks }, rect))
    tiles.add(index, bands, masked)
  }
  tiles.finish(georeference(sources[plan.georeferenceOf] as ByteSource, plan), scene.tags)
  return plan.bands.flatMap(({ name, cover }, i) => (cover < 1 ? [{ band: name ?? `${i + 1}`, cover }] : []))
}

function tilesOf({ width, height }: StackPlan): PixelRect[] {
  const rects: PixelRect[] = []
  for (let y = 0; y < height; y += STACK_TILE) {
    for (let x = 0; x < width; x += STACK_TILE) rects.push({ x, y, width: STACK_TILE, height: STACK_TILE })
  }
  return rects
}

async function readBand(
  { pieces, nodata }: PlannedBand,
  { files, ownMasks }: { readonly files: readonly OpenedFile[]; readonly ownMasks: boolean },
  rect: PixelRect,
): Promise<TileValues> {
  const tile = {
    rect,
    values: new Float64Array(rect.width * rect.height),
    valid: new Uint8Array(rect.width * rect.height),
  }
  for (const { file, ...piece } of pieces)
    await readPiece({ ...piece, file: files[file] as OpenedFile, ownMasks }, tile)
  if (!Number.isNaN(nodata)) tile.values.forEach((value, i) => value === nodata && (tile.valid[i] = 0))
  return tile
}

/** 1 for pixels that the scene's mask excludes; null without a mask. */
async function maskOf(
  { mask: planned }: StackPlan,
  mask: SceneMask | null,
  files: readonly OpenedFile[],
  rect: PixelRect,
): Promise<Uint8Array | null> {
  if (planned === null || mask === null) return null
  const tile = {
    rect,
    values: new Float64Array(rect.width * rect.height),
    valid: new Uint8Array(rect.width * rect.height),
  }
  const { file, band, placement } = planned
  const reading = {
    file: files[file] as OpenedFile,
    band,
    placement,
    nodata: null,
    ratio: 1,
    shift: 0,
    ownMasks: false,
  }
  await readPiece({ ...reading, resampling: 'nearest' }, tile)
  const values = new Set(mask.values)
  const bits = mask.bits.reduce((all, bit) => all | (1 << bit), 0)
  return tile.valid.map((has, i) => {
    const value = tile.values[i] as number
    return has === 0 || values.has(value) || (value & bits) !== 0 ? 1 : 0
  })
}

/** Writes tiles one after the other, then the directories. */
class TileWriter {
  readonly #plan: StackPlan
  readonly #sink: ByteSink
  readonly #tiles: number
  readonly #offsets: Float64Array
  readonly #counts: Float64Array
  /** Tiles of the mask with at least one excluded pixel. */
  readonly #maskTiles = new Map<number, { readonly offset: number; readonly count: number }>()
  #end = HEADER_BYTES

  constructor(plan: StackPlan, sink: ByteSink) {
    this.#plan = plan
    this.#sink = sink
    this.#tiles = Math.ceil(plan.width / STACK_TILE) * Math.ceil(plan.height / STACK_TILE)
    this.#offsets = new Float64Array(this.#tiles * plan.bands.length)
    this.#counts = new Float64Array(this.#tiles * plan.bands.length)
  }

  /** @param masked 1 for pixels that are excluded from all bands */
  add(index: number, bands: readonly TileValues[], masked: Uint8Array | null): void {
    const { type } = this.#plan
    const hidden = this.#hiddenPixels(bands, masked)
    if (hidden !== null) this.#maskTiles.set(index, this.#append(deflateSync(hidden, { level: 1 })))
    for (const [band, { values, valid, rect }] of bands.entries()) {
      let filled = 0
      for (let i = 0; i < values.length; i++) {
        if (valid[i] === 1 && masked?.[i] !== 1) filled++
        else values[i] = 0
      }
      // A sparse tile, which is not written, reads as zeros.
      if (filled === 0) continue
      const samples = samplesOf(values, type)
      const bytes = new Uint8Array(samples.buffer, samples.byteOffset, rect.width * rect.height * SAMPLE_BYTES[type])
      const { offset, count } = this.#append(bytes)
      this.#offsets[band * this.#tiles + index] = offset
      this.#counts[band * this.#tiles + index] = count
    }
  }

  /** Mask of a tile: 0 for a hidden pixel within the raster, else 255; null when no pixel is hidden. */
  #hiddenPixels(bands: readonly TileValues[], masked: Uint8Array | null): Uint8Array | null {
    const { width, height } = this.#plan
    const { rect } = bands[0] as TileValues
    const shown = new Uint8Array(rect.width * rect.height).fill(255)
    let hides = false
    for (let i = 0; i < shown.length; i++) {
      if (masked?.[i] !== 1 && bands.every(({ valid }) => valid[i] === 1)) continue
      shown[i] = 0
      hides ||= rect.x + (i % rect.width) < width && rect.y + Math.floor(i / rect.width) < height
    }
    return hides ? shown : null
  }

  #append(bytes: Uint8Array): { readonly offset: number; readonly count: number } {
    const offset = this.#end
    this.#sink.write(bytes, offset)
    this.#end += bytes.length
    return { offset, count: bytes.length }
  }

  finish(place: readonly TiffField[], tags: Readonly<Record<string, string>>): void {
    const { bands, type } = this.#plan
    const metadata = gdalMetadata(bands, tags)
    const bits = 8 * SAMPLE_BYTES[type]
    const format = type.startsWith('float') ? 3 : type.startsWith('u') ? 1 : 2
    const perBand = (value: number): number[] => bands.map(() => value)
    const image: TiffField[] = [
      ...this.#imageFields({ samples: bands.length, offsets: this.#offsets, counts: this.#counts }),
      shortField(TAG.bitsPerSample, perBand(bits)),
      shortField(TAG.compression, [1]),
      shortField(TAG.photometric, [1]),
      shortField(TAG.planarConfiguration, [2]),
      shortField(TAG.sampleFormat, perBand(format)),
      ...(bands.length > 1 ? [shortField(TAG.extraSamples, perBand(0).slice(1))] : []),
      ...place,
      ...(metadata === '' ? [] : [text(TAG.gdalMetadata, metadata)]),
    ]
    const images = this.#maskTiles.size === 0 ? [image] : [image, this.#maskFields()]
    // Directories begin at an even offset.
    this.#end += this.#end % 2
    this.#sink.write(tiffDirectories(images, this.#end), this.#end)
    this.#sink.write(tiffHeader(this.#end), 0)
  }

  #imageFields(blocks: { samples: number; offsets: Float64Array; counts: Float64Array }): TiffField[] {
    const { width, height } = this.#plan
    return [
      shortField(TAG.samplesPerPixel, [blocks.samples]),
      longField(TAG.imageWidth, [width]),
      longField(TAG.imageLength, [height]),
      shortField(TAG.tileWidth, [STACK_TILE]),
      shortField(TAG.tileLength, [STACK_TILE]),
      longField(TAG.tileOffsets, blocks.offsets),
      longField(TAG.tileByteCounts, blocks.counts),
    ]
  }

  #maskFields(): TiffField[] {
    const shown = this.#append(deflateSync(new Uint8Array(STACK_TILE * STACK_TILE).fill(255), { level: 1 }))
    const all = Array.from({ length: this.#tiles }, (_, i) => this.#maskTiles.get(i) ?? shown)
    const offsets = Float64Array.from(all, ({ offset }) => offset)
    const counts = Float64Array.from(all, ({ count }) => count)
    return [
      ...this.#imageFields({ samples: 1, offsets, counts }),
      shortField(TAG.newSubfileType, [4]),
      shortField(TAG.bitsPerSample, [8]),
      shortField(TAG.compression, [8]),
      shortField(TAG.photometric, [4]),
      shortField(TAG.planarConfiguration, [1]),
    ]
  }
}

/** The CRS keys of a file with the transform of the grid. Pixels are areas, even if the file has points. */
function georeference(source: ByteSource, { affine: [x, xc, xr, y, yc, yr] }: StackPlan): TiffField[] {
  const [directory] = readHeader(source).directories
  const keys = directory?.integers(TAG.geoKeyDirectory, 4096) ?? new Float64Array(0)
  for (let i = 4; i + 3 < keys.length; i += 4) if (keys[i] === KEY.rasterType) keys[i + 3] = 1
  const doubles = directory?.reals(TAG.geoDoubleParams, 4096) ?? new Float64Array(0)
  const texts = directory?.bytes(TAG.geoAsciiParams)
  return [
    { tag: TAG.modelTransformation, type: 'double', values: [xc, xr, 0, x, yc, yr, 0, y, 0, 0, 0, 0, 0, 0, 0, 1] },
    ...(keys.length === 0 ? [] : [shortField(TAG.geoKeyDirectory, keys)]),
    ...(doubles.length === 0 ? [] : [{ tag: TAG.geoDoubleParams, type: 'double', values: doubles } as const]),
    ...(texts ? [{ tag: TAG.geoAsciiParams, type: 'text', values: texts } as const] : []),
  ]
}

function text(tag: number, value: string): TiffField {
  return { tag, type: 'text', values: tiffText(value) }
}
