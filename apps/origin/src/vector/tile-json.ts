import type { Principal } from '@terrane/auth'
import { readComment, type Session } from '@terrane/database'
import type { FastifyRequest } from 'fastify'
import { runAs } from '../rest/execute.ts'
import { boundsOf } from './layer-bounds.ts'
import type { Layer } from './layer.ts'
import { labelLayerOf } from './tile-sql.ts'
import { MAX_ZOOM, parametersOf, tableQueryOf, type SourceName } from './tile-request.ts'
import { findSource, readingAs, type TileDeps, type TileSource } from './tiles.ts'

interface Described {
  readonly description: string | null
  readonly attribution: string | null
  readonly bounds: readonly number[]
  readonly minzoom: number
  readonly maxzoom: number
  readonly vector_layers: readonly object[]
}

const WORLD = [-180, -85.0511, 180, 85.0511]

/** TileJSON 3.0.0 of sources, for the caller of a request. @throws 42P01, 42703, 42701 */
export async function tileJson(deps: TileDeps, request: FastifyRequest, sources: readonly SourceName[]) {
  const parameters = parametersOf(request)
  const described: Described[] = []
  for (const source of sources) {
    // By the server's role, because callers may not read the catalogue; only for layers that the caller may read.
    const { rows } = await deps.database.query<{ attribution: string }>(
      'select attribution from terrane.imports where table_schema = $1 and table_name = $2',
      [source.schema, source.table],
    )
    const about = await runAs(
      deps.database,
      readingAs(request.restCaller as Principal, source.schema),
      async (session) => describeSource(session, await findSource(session, source, parameters), parameters),
    )
    described.push({ ...about, attribution: about.attribution ?? rows[0]?.attribution ?? null })
  }
  const path = (request.url.split('?', 1)[0] ?? '').replace(/\/style\.json$/, '')
  const query = parameters.toString()
  const attribution = [...new Set(described.flatMap((one) => one.attribution ?? []))].join(', ')
  const description = described.flatMap((one) => one.description ?? []).join('; ')
  const corner = (i: number, pick: (...values: number[]) => number) =>
    pick(...described.map(({ bounds }) => bounds[i]!))
  return {
    tilejson: '3.0.0',
    name: sources.map(({ schema, table }) => `${schema}.${table}`).join(),
    ...(description !== '' && { description }),
    ...(attribution !== '' && { attribution }),
    scheme: 'xyz',
    tiles: [`${request.protocol}://${request.host}${path}/{z}/{x}/{y}${query === '' ? '' : `?${query}`}`],
    minzoom: Math.min(...described.map(({ minzoom }) => minzoom)),
    maxzoom: Math.max(...described.map(({ maxzoom }) => maxzoom)),
    bounds: [corner(0, Math.min), corner(1, Math.min), corner(2, Math.max), corner(3, Math.max)],
    vector_layers: described.flatMap((one) => one.vector_layers),
  }
}

async function describeSource(session: Session, source: TileSource, parameters: URLSearchParams): Promise<Described> {
  if (source.kind === 'function') return describedByComment(source.fn.comment)
  const { hasLabelPoints } = tableQueryOf(parameters)
  const { layer } = source
  const { description, attribution } = readComment(layer.comment)
  return {
    description,
    attribution,
    bounds: await boundsOf(session, layer),
    minzoom: 0,
    maxzoom: MAX_ZOOM,
    vector_layers: [layer.table, ...(hasLabelPoints ? [labelLayerOf(layer)] : [])].map((id) =>
      vectorLayer(id, layer, description),
    ),
  }
}

function vectorLayer(id: string, { table, geometryType, properties }: Layer, description: string | null): object {
  return {
    id,
    description: description ?? '',
    minzoom: 0,
    maxzoom: MAX_ZOOM,
    geometry_type: id === table ? geometryType : 'Point',
    fields: Object.fromEntries(
      properties.map(({ name, type }) => [name, { text: 'String', bool: 'Boolean' }[type as string] ?? 'Number']),
    ),
  }
}

/** A comment that is a JSON object adds members to the TileJSON; any other comment is the description. */
function describedByComment(comment: string | null): Described {
  const { description, attribution, given } = readComment(comment)
  const { bounds, vector_layers: layers } = given ?? {}
  return {
    description: given && description === comment ? null : description,
    attribution,
    bounds: Array.isArray(bounds) && bounds.length === 4 && bounds.every(Number.isFinite) ? bounds : WORLD,
    minzoom: zoomOr(given?.['minzoom'], 0),
    maxzoom: zoomOr(given?.['maxzoom'], MAX_ZOOM),
    vector_layers: Array.isArray(layers) ? layers.filter((one) => typeof one === 'object' && one !== null) : [],
  }
}

function zoomOr(value: unknown, fallback: number): number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_ZOOM
    ? (value as number)
    : fallback
}
