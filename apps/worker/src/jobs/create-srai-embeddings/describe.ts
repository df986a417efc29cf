import type { JobWarning } from '@terrane/contracts'
import type { Aoi } from '@terrane/core'
import { embedderModelName, type RegionSummary } from '@terrane/embeddings/srai'
import type { Publication } from '../embeddings/embedding-output.ts'
import { OSM_COPYRIGHT } from '../osm/licence.ts'
import type { ObtainedFeatures } from './features.ts'
import type { Place } from '../../places/geocoder.ts'
import type { SraiRequest } from './request.ts'

/** Facts about the features for the record. */
export type AboutFeatures = Omit<ObtainedFeatures, 'source'>

/** Facts about how the vectors were made. They are JSON, so that a later run can continue from them. */
export interface Made {
  readonly summary: RegionSummary
  readonly about: AboutFeatures
  readonly warnings: readonly JobWarning[]
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Description of the table for catalogue, STAC item and result. */
export function publicationOf(
  request: SraiRequest,
  summary: RegionSummary,
  features: AboutFeatures,
  warnings: readonly JobWarning[],
): Omit<Publication, 'sources'> {
  const { embedder, owner, isPublic } = request
  const { origin, attribution, licence, timestamp } = features
  const id = embedderModelName(embedder)
  const source = { ...origin, timestamp }
  return {
    result: {
      model: { id, sha256: summary.fingerprint, licence },
      skipped_nodata: 0,
      scale: null,
      crs: 'EPSG:4326',
      features: summary.features,
      zero_vectors: summary.zeroVectors,
      source,
      attribution,
      warnings: [...warnings],
    },
    entry: {
      kind: 'srai',
      owner,
      isPublic,
      modelName: id,
      modelSha256: summary.fingerprint,
      modelLicence: licence,
      level: 'cell',
      normalized: false,
      metric: metricOf(summary),
      source: describeOrigin(origin),
      sourceCrs: 'EPSG:4326',
      attribution,
      tileSize: null,
      stride: null,
      bands: null,
      scale: null,
      featureNames: summary.names,
    },
    item: {
      datetime: timestamp ?? new Date().toISOString(),
      licence: { title: licence, href: OSM_COPYRIGHT },
      source: { title: attribution, href: OSM_COPYRIGHT },
      model: { title: id, href: null },
      parameters: {
        model: id,
        model_sha256: summary.fingerprint,
        dimensions: summary.dims,
        h3_resolution: request.resolution,
        embedder,
        filter: request.filterSent,
      },
      preprocessing: 'map features counted by tag in every H3 cell that they have a point in common with',
      normalized: false,
    },
  }
}

/** Metadata of the catalogue and of the GeoParquet file. */
export function metadataOf(
  request: SraiRequest,

  summary: RegionSummary,
  { origin, attribution, licence, timestamp }: AboutFeatures,
  { aoi, place }: { readonly aoi: Aoi; readonly place: Place | null },
  warnings: readonly JobWarning[],
): Record<string, unknown> {
  const { embedder, filterSent, resolution } = request
  return {
    model: { id: embedderModelName(embedder), sha256: summary.fingerprint },
    embedder,
    filter: filterSent,
    h3_resolution: resolution,
    area: { km2: Math.round(aoi.areaKm2 * 1e6) / 1e6, ...(place && { place: place.name, element: place.element }) },
    source: { ...origin, timestamp },
    attribution,
    licence,
    features: summary.features,
    counts: summary.counts,
    feature_names: summary.names,
    ...(summary.losses.length > 0 && { losses: summary.losses }),
    warnings,
  }
}

function describeOrigin({ kind, url, name, prefix }: AboutFeatures['origin']): string {
  return String(url ?? name ?? (kind === 'tables' ? `public.${String(prefix)}_*` : kind))
}

/** Vectors with one dimension differ in length only, so cosine cannot compare them. */
function metricOf({ dims }: RegionSummary): 'cosine' | 'l2' {
  return dims === 1 ? 'l2' : 'cosine'
}

/** Warnings for searches of the table by cosine. */
export function warningsOf({ cells, dims, zeroVectors }: RegionSummary): JobWarning[] {
  const warnings: JobWarning[] = []
  if (dims === 1) {
    const message = 'The embeddings have one dimension: their cosine is always 1. Compare their values (metric l2).'
    warnings.push({ code: 'ONE_DIMENSION', message })
  } else if (dims < 4) {
    const message = `The embeddings have only ${dims} dimensions: many cells look alike by cosine.`
    warnings.push({ code: 'FEW_DIMENSIONS', message })
  }
  if (zeroVectors > 0) {
    const message = `${zeroVectors} of ${cells} cells have no feature: their vectors are zero, and no search finds them.`
    warnings.push({ code: 'CELLS_WITHOUT_FEATURES', message, count: zeroVectors })
  }
  return warnings
}
