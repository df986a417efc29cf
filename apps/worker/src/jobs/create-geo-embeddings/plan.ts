import { embeddingsPerTile, type ModelManifest } from '@terrane/embeddings'
import type { InspectRequest } from '@terrane/tiling/raster'
import { tooManyPatches } from './errors.ts'
import type { GeoRequest } from './request.ts'
import { MAX_BYTES_SETTING, fileNameOf } from './source.ts'
import type { ReferenceStretch } from './stretch.ts'

const MAX_TILES_SETTING = 'GEOEMBEDDINGS_MAX_TILES'

/**
 * The inspection that checks a raster for a request.
 *
 * @param reference stretch of the table that the raster must be comparable with
 */
export function inspectRequest(
  request: GeoRequest,
  manifest: ModelManifest,
  reference: ReferenceStretch | null,
  limits: { readonly maxBytes: number; readonly maxTiles: number },
): Omit<InspectRequest, 'crs'> {
  const { tileSize, stride, edge, alignGrid, bands } = request
  const { profile } = request
  return {
    tileSize,
    stride,
    edge,
    alignGrid,
    channels: reference?.channels ?? manifest.input.bands,
    fileName: fileNameOf(request.source),
    ...(bands && { bands }),
    ...(profile !== null && { profile }),
    // A stretch without a profile is for stored values, so this raster must be read without a profile, too.
    ...(reference !== null && reference.profile === null && { asStored: true }),
    ...(request.sourceSrs !== null && { sourceSrs: request.sourceSrs }),
    ...(reference && { otherwise: { profile: reference.profile, bands: reference.bands } }),
    maxBytes: { limit: limits.maxBytes, setting: MAX_BYTES_SETTING },
    maxTiles: { limit: limits.maxTiles, setting: MAX_TILES_SETTING },
  }
}

/** Patches have a limit of their own, beside that of tiles. @throws size_guard_exceeded */
export function guardPatches(tiles: number, request: GeoRequest, manifest: ModelManifest, limit: number): void {
  if (request.level !== 'patch') return
  const patches = tiles * embeddingsPerTile(manifest, request.level, request.tileSize)
  if (limit > 0 && patches > limit) throw tooManyPatches({ patches, limit })
}
