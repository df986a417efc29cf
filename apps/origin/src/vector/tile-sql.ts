import { quoteIdentifier, quoteLiteral } from '@terrane/database'
import { whereClause, type Parameters, type Condition } from '@terrane/database/rest-query'
import type { Layer } from './layer.ts'

export interface TileQuery {
  readonly z: number
  readonly x: number
  readonly y: number
  /** In units of 1/4096 of the tile's side. */
  readonly buffer: number
  readonly limit: number
  readonly conditions: readonly Condition[]
}

/** A statement that gives the whole tile as `tile`, by the database itself. */
export function tileSql(layer: Layer, query: TileQuery, parameters: Parameters): string {
  const id = layer.id === null ? '' : `, ${idSql(layer)} as "mvt id"`
  const feature = layer.id === null ? '' : `, 'mvt id'`
  const { where, envelope } = rowsOf(layer, query, parameters)
  // With a star: a column of the name of the rows goes before them.
  return `select st_asmvt(page.*, ${quoteLiteral(layer.table)}::text, 4096, 'mvt geom'${feature}) as tile from (
    select st_asmvtgeom(st_transform(${straight(layer)}, 3857), ${envelope}, 4096, ${query.buffer}, true) as "mvt geom"${id}${columns(layer)}
    ${where}) as page where "mvt geom" is not null`
}

/** A statement that gives the rows of a tile, for an encoder of our own: `geometry` as EWKB in 4326, `id`, then the properties. */
export function rowsSql(layer: Layer, query: TileQuery, parameters: Parameters): string {
  const { where } = rowsOf(layer, query, parameters)
  const geometry = layer.srid === 4326 ? straight(layer) : `st_transform(${straight(layer)}, 4326)`
  const id = layer.id === null ? 'null::int8' : idSql(layer)
  return `select st_asewkb(${geometry}) as "mvt geom", ${id} as "mvt id"${columns(layer)} ${where}`
}

function idSql(layer: Layer): string {
  return `source.${quoteIdentifier(layer.id as string)}::int8`
}

/** Types are named, so that both ways give the same values. */
function columns(layer: Layer): string {
  return layer.properties
    .map(({ name, type }) => `, source.${quoteIdentifier(name)}::${type} as ${quoteIdentifier(name)}`)
    .join('')
}

function straight({ geometry, geometryType }: Layer): string {
  return /^(geometry|circularstring|compoundcurve|curvepolygon|multicurve|multisurface)/i.test(geometryType)
    ? `st_curvetoline(${geometry})`
    : geometry
}

function rowsOf(layer: Layer, query: TileQuery, parameters: Parameters): { where: string; envelope: string } {
  const { z, x, y, buffer, limit, conditions } = query
  const envelope = `st_tileenvelope(${z}, ${x}, ${y})`
  const filters = whereClause(conditions, 'source', parameters).replace(/^ where /, ' and ')
  const meters = (buffer / 4096) * (40_075_016.685_578_49 / 2 ** z)
  // Expanded in meters: a margin in degrees would wrap at the antimeridian.
  const around = `st_expand(${envelope}, ${meters})`
  const area =
    layer.srid === 3857
      ? around
      : `st_transform(${around}, ${layer.srid === 0 ? `st_srid(${layer.geometry})` : layer.srid})`
  return {
    envelope,
    where: `from ${layer.source} as source where ${layer.geometry} && ${area}${filters} limit ${limit}`,
  }
}
