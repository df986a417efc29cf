import { DEFAULT_GEO_MODEL, type CreateGeoEmbeddings } from '@terrane/contracts'
import {
  MIN_VALID_FRACTION,
  checkDatetime,
  checkTileSize,
  embeddingsPerTile,
  type ModelManifest,
} from '@terrane/embeddings'
import { checkProfile, checkScale, type Ranges } from '@terrane/tiling/raster'
import { instantOf } from '../times.ts'
import { conflictingScales, invalidDatetime, sourceMissing } from './errors.ts'
import { fileNameOf, sourceOf, type RasterSource } from './source.ts'

/** The request with every default filled in. */
export interface GeoRequest {
  readonly source: RasterSource
  readonly tableName: string
  readonly modelName: string
  readonly tileSize: number
  readonly stride: number
  readonly edge: 'pad' | 'drop' | 'shift'
  readonly alignGrid: boolean
  readonly minValidFraction: number
  readonly level: 'tile' | 'patch'
  readonly normalize: boolean
  readonly upload: boolean
  readonly owner: string | null
  readonly isPublic: boolean | null
  readonly strict: boolean
  readonly bands: readonly number[] | null
  readonly profile: string | null
  /** EPSG code that overrides the one in the file. */
  readonly sourceSrs: number | null
  /** Acquisition time of the imagery, RFC 3339; null when neither the request nor the product's name gives it. */
  readonly datetime: string | null
  readonly scale: Ranges | null
  /** The table whose stretch is used. */
  readonly scaleFrom: string | null
}

/** @throws SOURCE_MISSING, CONFLICTING_FIELDS for two scales, INVALID_DATETIME */
export function readRequest(body: CreateGeoEmbeddings): GeoRequest {
  const { tileSize = 256, scale, scaleFrom } = body
  const source = sourceOf(body)
  if (source === null) throw sourceMissing()
  if (scale && scaleFrom) throw conflictingScales()
  return {
    source,
    tableName: body.tableName,
    modelName: body.modelName ?? DEFAULT_GEO_MODEL,
    tileSize,
    stride: body.stride ?? tileSize,
    edge: body.edge ?? 'pad',
    alignGrid: body.alignGrid ?? false,
    minValidFraction: body.minValidFraction ?? MIN_VALID_FRACTION,
    level: body.level ?? 'tile',
    normalize: body.normalizeEmbeddings ?? true,
    upload: body.uploadArtifactsToStorage ?? false,
    owner: body.ownerUuid ?? null,
    isPublic: body.isPublic ?? null,
    strict: body.strict ?? false,
    bands: body.bands ?? null,
    profile: body.profile ?? null,
    sourceSrs: body.sourceSrs === undefined ? null : Number(body.sourceSrs.slice('EPSG:'.length)),
    datetime: readDatetime(body.datetime) ?? datetimeOfProduct(fileNameOf(source)),
    scale: (scale as Ranges | undefined) ?? null,
    scaleFrom: scaleFrom?.table ?? null,
  }
}

/**
 * Checks the request against the model's manifest, without reading the raster.
 *
 * @throws TILE_SIZE_UNSUPPORTED, LEVEL_UNSUPPORTED, MODEL_INPUT_MISSING, INVALID_SCALE, SCALE_COUNT, UNKNOWN_PROFILE
 */
export function checkRequest(request: GeoRequest, manifest: ModelManifest): void {
  checkTileSize(manifest, request.tileSize)
  embeddingsPerTile(manifest, request.level, request.tileSize)
  checkDatetime(manifest, request.datetime)
  if (request.scale) checkScale(request.scale, manifest.input.bands.length)
  if (request.profile !== null) checkProfile(request.profile)
}

function readDatetime(text: string | undefined): string | null {
  if (text === undefined) return null
  const instant = instantOf(text)
  if (instant === null) throw invalidDatetime({ text })
  return new Date(instant).toISOString()
}

/** The acquisition time in a product's file name, such as 20240601T101031; it precedes any processing time. */
function datetimeOfProduct(fileName: string): string | null {
  const instant = instantOf(/(?<![0-9])[0-9]{8}T[0-9]{6}/.exec(fileName)?.[0])
  return instant === null ? null : new Date(instant).toISOString()
}
