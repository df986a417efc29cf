import type { ModelManifest } from '@terrane/embeddings'
import type { InspectedRaster } from '@terrane/tiling/raster'
import type { GeoEmbeddingsDeps } from './deps.ts'
import { scaleFromUnusable } from './errors.ts'
import { inspectRaster, type ScaledRaster } from './inspect.ts'
import { guardPatches, inspectRequest } from './plan.ts'
import type { GeoRequest } from './request.ts'
import { differenceFrom, storedStretch, type ReferenceStretch, type StoredStretch } from './stretch.ts'

/** A raster as a model reads it: its headers, and its stretch. */
export interface RasterInput extends ScaledRaster {
  readonly stretch: StoredStretch
}

interface Options {
  readonly path: string
  /** The stretch to use in the place of the raster's own. */
  readonly reference: ReferenceStretch | null
  /** Called with the headers before pixels are read; if it throws, the work ends. */
  readonly check?: (inspected: InspectedRaster) => void
  readonly signal: AbortSignal
}

/** Checks a raster by its headers and settles its stretch. @throws SCALE_FROM_UNUSABLE, SAMPLES_CLAMPED */
export async function readRaster(
  deps: GeoEmbeddingsDeps,
  request: GeoRequest,
  manifest: ModelManifest,
  { path, reference, check, signal }: Options,
): Promise<RasterInput> {
  const unit = manifest.input.unit ?? 'scaled'
  const task = {
    path,
    request: inspectRequest(request, manifest, reference, deps),
    crs: deps.crs,
    scale: { explicit: request.scale, taken: reference?.ranges ?? null, unit },
  }
  const scaled = await inspectRaster(task, signal, (inspected) => {
    guardPatches(inspected.plan.count, request, manifest, deps.maxPatches)
    const why = request.scaleFrom === null || reference === null ? null : differenceFrom(reference, inspected)
    if (why !== null) throw scaleFromUnusable({ table: request.scaleFrom!, why })
    check?.(inspected)
  })
  return { ...scaled, stretch: storedStretch(scaled.inspected, scaled.scale, unit, scaled.clamped) }
}
