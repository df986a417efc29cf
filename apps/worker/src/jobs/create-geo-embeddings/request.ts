import { DEFAULT_GEO_MODEL, type CreateGeoEmbeddings } from '@terrane/contracts'
import { checkTileSize, embeddingsPerTile, type ModelManifest } from '@terrane/embeddings'
import { checkProfile, checkScale, type Ranges } from '@terrane/tiling/raster'
import { conflictingScales, sourceMissing } from './errors.ts'
import { sourceOf, type RasterSource } from './source.ts'

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
  readonly strict: boolean
  readonly bands: readonly number[] | null
  readonly profile: string | null
  /** EPSG code that takes the place of what the file says. */
  readonly sourceSrs: number | null
  readonly scale: Ranges | null
  /** The table whose stretch is taken. */
  readonly scaleFrom: string | null
}

/** @throws SOURCE_MISSING, CONFLICTING_SCALES */
export function readRequest(body: CreateGeoEmbeddings): GeoRequest {
  const { geotiffPath, storagePath, tileSize = 256, scale, scaleFrom } = body
  const source = sourceOf(geotiffPath, storagePath)
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
    minValidFraction: body.minValidFraction ?? 0.5,
    level: body.level ?? 'tile',
    normalize: body.normalizeEmbeddings ?? true,
    upload: body.uploadArtifactsToStorage ?? false,
    strict: body.strict ?? false,
    bands: body.bands ?? null,
    profile: body.profile ?? null,
    sourceSrs: body.sourceSrs === undefined ? null : Number(body.sourceSrs.slice('EPSG:'.length)),
    scale: (scale as Ranges | undefined) ?? null,
    scaleFrom: scaleFrom?.table ?? null,
  }
}

/**
 * What the request itself and the model's manifest tell, without a look at the raster.
 *
 * @throws TILE_SIZE_UNSUPPORTED, LEVEL_UNSUPPORTED, INVALID_SCALE, SCALE_COUNT, UNKNOWN_PROFILE
 */
export function checkRequest(request: GeoRequest, manifest: ModelManifest): void {
  checkTileSize(manifest, request.tileSize)
  embeddingsPerTile(manifest, request.level, request.tileSize)
  if (request.scale) checkScale(request.scale, manifest.input.bands.length)
  if (request.profile !== null) checkProfile(request.profile)
}
