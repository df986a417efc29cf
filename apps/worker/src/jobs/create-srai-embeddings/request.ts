import type { CreateSraiEmbeddings, FeatureSource } from '@terrane/contracts'
import {
  checkEmbedding,
  completeEmbedder,
  embedderOf,
  osmPreset,
  parseOsmFilter,
  type CompleteEmbedder,
  type OsmFilter,
} from '@terrane/embeddings/srai'
import { foreignOption, noPretrainedModels, notSaid, saidMoreThanOnce } from './errors.ts'

/** The area of a request: the name of a place, or GeoJSON; `path` is its place in the request. */
export type RequestedArea = { readonly path: string } & ({ readonly place: string } | { readonly geoJson: object })

/** A request in one shape, with every default filled in. */
export interface SraiRequest {
  readonly tableName: string
  readonly area: RequestedArea
  readonly resolution: number
  readonly filter: OsmFilter
  /** The filter as requested: the name of a preset, or tags. */
  readonly filterSent: unknown
  readonly embedder: CompleteEmbedder
  readonly source: FeatureSource | undefined
  readonly upload: boolean
  readonly strict: boolean
  readonly owner: string | null
  readonly isPublic: boolean | null
}

const DEFAULT_PRESET = 'hex2vec'
const DEFAULT_EMBEDDER = 'count'

/**
 * Converts both forms of the body, the flat one and the pipeline, to one. A field may be in either form, but only in
 * one.
 *
 * @throws MISSING_FIELD, CONFLICTING_FIELDS, PRETRAINED_MODEL_UNAVAILABLE, OSM_PRESET_UNKNOWN, INVALID_OSM_FILTER,
 * EMBEDDER_UNKNOWN, INVALID_EMBEDDER_OPTION, TOO_MANY_DIMENSIONS
 */
export function readRequest(body: CreateSraiEmbeddings): SraiRequest {
  if (typeof body.pretrainedModelRunId === 'string') throw noPretrainedModels()
  const { dataLoaderArgs, regionalizerArgs, fitterArgs } = body.pipeline ?? {}
  const area = atMostOnce('area', [
    ['/aoiGeoJson', body.aoiGeoJson],
    ['/placeQuery', body.placeQuery],
    ['/pipeline/dataLoaderArgs/query', dataLoaderArgs?.query],
  ])
  const resolution = atMostOnce('resolution', [
    ['/h3Resolution', body.h3Resolution],
    ['/pipeline/regionalizerArgs/dgg/resolution', regionalizerArgs?.dgg.resolution],
  ])
  const filter = atMostOnce('filter', [
    ['/osmTags', body.osmTags],
    ['/osmPreset', body.osmPreset],
    ['/pipeline/dataLoaderArgs/filter', dataLoaderArgs?.filter],
  ]) ?? { path: '/osmPreset', value: DEFAULT_PRESET }
  const embedder = atMostOnce('embedder', [
    ['/embedder', body.embedder],
    ['/pipeline/fitterArgs/modelName', fitterArgs?.modelName],
  ])
  if (!area || !resolution) {
    const missing = [
      ...(area ? [] : [{ what: 'area', paths: ['/aoiGeoJson', '/placeQuery'] }]),
      ...(resolution ? [] : [{ what: 'resolution', paths: ['/h3Resolution'] }]),
    ]
    throw notSaid({ missing })
  }
  const request = {
    tableName: body.tableName,
    area: areaOf(area),
    resolution: resolution.value,
    filter: typeof filter.value === 'string' ? osmPreset(filter.value) : parseOsmFilter(filter.value, filter.path),
    filterSent: filter.value,
    embedder: readEmbedder(embedder?.value ?? DEFAULT_EMBEDDER),
    source: body.source,
    upload: body.uploadArtifactsToStorage ?? false,
    strict: body.strict ?? false,
    owner: body.ownerUuid ?? null,
    isPublic: body.isPublic ?? null,
  }
  checkEmbedding(request)
  return request
}

function areaOf({ path, value }: Said<string | object>): RequestedArea {
  return typeof value === 'string' ? { path, place: value } : { path, geoJson: value }
}

function readEmbedder(sent: NonNullable<CreateSraiEmbeddings['embedder']>): CompleteEmbedder {
  if (typeof sent === 'string') return completeEmbedder(embedderOf(sent))
  const { kind, ...options } = sent
  const named = embedderOf(kind)
  const known = Object.keys(completeEmbedder(named)).filter((option) => option !== 'kind')
  const foreign = Object.keys(options).find((option) => !known.includes(option))
  if (foreign !== undefined) throw foreignOption({ option: foreign, kind: named.kind, known })
  return completeEmbedder({ ...named, ...options })
}

interface Said<T> {
  readonly path: string
  readonly value: T
}

type Places<T> = readonly (readonly [path: string, value: T | undefined])[]

function atMostOnce<T>(what: string, places: Places<T>): Said<T> | null {
  const said = places.flatMap(([path, value]) => (value === undefined ? [] : [{ path, value }]))
  if (said.length > 1) throw saidMoreThanOnce({ what, paths: said.map(({ path }) => path) })
  return said[0] ?? null
}
