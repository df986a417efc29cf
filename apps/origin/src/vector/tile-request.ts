import { parseQuery } from '@terrane/database/rest-query'
import { readParameters } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { sourceOf } from '../rest/source-of.ts'
import { badTile } from './errors.ts'
import { wholeOf } from './whole-of.ts'

/** A table, view or function from which tiles are made. */
export interface SourceName {
  readonly schema: string
  readonly table: string
}

type Refuse = (detail: string) => Error

/** Position of a tile in the slippy map scheme: {@link https://wiki.openstreetmap.org/wiki/Slippy_map_tilenames}. */
export interface TilePlace {
  readonly z: number
  readonly x: number
  readonly y: number
}

/** A requested tile: of one source, or of several as its layers. */
export interface TileRequest extends TilePlace {
  readonly sources: readonly SourceName[]
  readonly parameters: URLSearchParams
}

/** At this zoom a tile is 2.4 m wide at the equator; our own encoder has a precision of 4 cm. */
export const MAX_ZOOM = 24
/** Parameters that are not filters. */
const OWN: ReadonlySet<string> = new Set(['properties', 'limit', 'buffer', 'cluster', 'label_points', 'apikey'])
const MAX_FEATURES = 50_000
/** Same default as Martin. */
const BUFFER = 64
const MAX_SOURCES = 16

/** The sources of a path: `a`, `schema.a`, or several with commas. @throws PGRST100, PGRST106 */
export function sourcesOf(schemas: readonly string[], source: string): readonly SourceName[] {
  const sources = source.split(',').map((one) => sourceOf(schemas, { params: { source: one } }))
  if (sources.length > MAX_SOURCES) throw badTile(`a tile has at most ${MAX_SOURCES} sources`)
  const twice = sources.find(({ table }, i) => sources.findIndex((other) => other.table === table) < i)
  if (twice) throw badTile(`two sources have the name ${twice.table}, and their layers would, too`)
  return sources
}

/** @throws the error that `refuse` makes; PGRST100 by default */
export function placeOf(texts: Readonly<Record<'z' | 'x' | 'y', string>>, refuse = badTile as Refuse): TilePlace {
  const z = wholeOf(texts.z, 'z', 0, MAX_ZOOM, refuse) ?? 0
  const [x = 0, y = 0] = (['x', 'y'] as const).map((name) => wholeOf(texts[name], name, 0, 2 ** z - 1, refuse) ?? 0)
  return { z, x, y }
}

/** Filters may occur several times. */
export function parametersOf(request: FastifyRequest): URLSearchParams {
  return readParameters(request, (name) => !OWN.has(name))
}

/** Parameters for tables. */
export function tableQueryOf(parameters: URLSearchParams) {
  const filters = new URLSearchParams(parameters)
  for (const name of OWN) filters.delete(name)
  const listed = parameters.get('properties')
  return {
    properties: listed === null ? null : listed.split(',').filter((name) => name !== ''),
    limit: wholeOf(parameters.get('limit'), 'limit', 1, MAX_FEATURES) ?? MAX_FEATURES,
    buffer: wholeOf(parameters.get('buffer'), 'buffer', 0, 1024) ?? BUFFER,
    cluster: clusterOf(parameters),
    hasLabelPoints: hasLabelPoints(parameters),
    conditions: parseQuery(filters).conditions,
  }
}

function hasLabelPoints(parameters: URLSearchParams): boolean {
  const value = parameters.get('label_points')
  if (value !== null && value !== 'true' && value !== 'false') throw badTile('label_points is true or false')
  return value === 'true'
}

/** @throws PGRST100 for a side that does not divide the tile, because squares of neighbouring tiles would not align */
function clusterOf(parameters: URLSearchParams): number | null {
  const side = wholeOf(parameters.get('cluster'), 'cluster', 32, 4096)
  if (side !== null && 4096 % side !== 0) throw badTile('cluster is a power of two from 32 to 4096')
  return side
}

/** Parameters for functions; each may occur once. @throws PGRST100 */
export function functionQueryOf(parameters: URLSearchParams): URLSearchParams {
  const own = new URLSearchParams(parameters)
  own.delete('apikey')
  for (const name of own.keys())
    if (own.getAll(name).length > 1) throw badTile(`${name} stands several times, and a function takes one value`)
  return own
}
