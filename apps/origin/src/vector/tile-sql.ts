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
  /** Side of the squares whose points become one, in units of 1/4096 of the tile's side; null for none. */
  readonly cluster: number | null
  readonly conditions: readonly Condition[]
}

/** A statement that gives the whole tile as `tile`, by the database itself. */
export function tileSql(layer: Layer, query: TileQuery, parameters: Parameters): string {
  if (query.cluster !== null) {
    const { clusters, envelope } = clustersOf(layer, query, parameters)
    return `select st_asmvt(page.*, ${quoteLiteral(layer.table)}::text, 4096, 'mvt geom') as tile from (
      select st_asmvtgeom("mvt geom", ${envelope}, 4096, 0, true) as "mvt geom", ${listed(layer)} from (${clusters}) c) as page where "mvt geom" is not null`
  }
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
  if (query.cluster !== null) {
    const { clusters } = clustersOf(layer, query, parameters)
    return `select st_asewkb(st_transform("mvt geom", 4326)) as "mvt geom", null::int8 as "mvt id", ${listed(layer)} from (${clusters}) c`
  }
  const { where } = rowsOf(layer, query, parameters)
  const geometry = layer.srid === 4326 ? straight(layer) : `st_transform(${straight(layer)}, 4326)`
  const id = layer.id === null ? 'null::int8' : idSql(layer)
  return `select st_asewkb(${geometry}) as "mvt geom", ${id} as "mvt id"${columns(layer)} ${where}`
}

/** A count of some rows would be wrong: the timeout of the statement is the bound. */
const ALL = 2_147_483_647
/** Property of a cluster: the number of its rows. */
export const POINT_COUNT = 'point_count'

/**
 * Rows of a tile by squares of a grid that tiles share: the middle of their points in Web Mercator, and their number. A row that is
 * alone in its square has its properties. Squares end with the tile, so no row is counted twice.
 */
function clustersOf(layer: Layer, query: TileQuery, parameters: Parameters): { clusters: string; envelope: string } {
  const { where, envelope } = rowsOf(layer, { ...query, buffer: 0, limit: ALL }, parameters)
  const side = ((query.cluster ?? 0) / 4096) * (40_075_016.685_578_49 / 2 ** query.z)
  const alone = layer.properties.map(
    ({ name, type }) =>
      `, case when count(*) = 1 then (array_agg(source.${quoteIdentifier(name)}::${type}))[1] end as ${quoteIdentifier(name)}`,
  )
  const [x, y] = ['st_x("mvt p")', 'st_y("mvt p")']
  const [west, south, east, north] = ['xmin', 'ymin', 'xmax', 'ymax'].map((end) => `st_${end}(${envelope})`)
  const clusters = `select st_setsrid(st_makepoint(avg(${x}), avg(${y})), 3857) as "mvt geom", count(*) as "mvt count"${alone.join('')}
    from (select source.*, st_transform(st_centroid(${layer.geometry}), 3857) as "mvt p" ${where}) source
    where ${x} >= ${west} and ${x} < ${east} and ${y} > ${south} and ${y} <= ${north}
    group by floor((${x} - ${west}) / ${side}), floor((${north} - ${y}) / ${side})`
  return { clusters, envelope }
}

function listed({ properties }: Layer): string {
  const own = properties.filter(({ name }) => name !== POINT_COUNT).map(({ name }) => `, ${quoteIdentifier(name)}`)
  return `"mvt count" as ${POINT_COUNT}${own.join('')}`
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
