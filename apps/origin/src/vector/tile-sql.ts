import { quoteIdentifier, quoteLiteral } from '@terrane/database'
import { whereClause, type Parameters, type Condition } from '@terrane/database/rest-query'
import type { Layer, Property } from './layer.ts'

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
 * alone in its square has its properties. Squares end with the tile, so no row is counted twice; those at the ends of the world hold
 * the rows on its edge.
 */
function clustersOf(layer: Layer, query: TileQuery, parameters: Parameters): { clusters: string; envelope: string } {
  // The margin leaves the edges to the comparison below.
  const { where, envelope } = rowsOf(layer, { ...query, buffer: 64, limit: ALL }, parameters)
  const { z, x, y } = query
  const last = 2 ** z - 1
  const side = ((query.cluster ?? 0) / 4096) * (WORLD / 2 ** z)
  const most = 4096 / (query.cluster ?? 1) - 1
  const alone = layer.properties.map(
    (property) => `, case when count(*) = 1 then ${onlyValue(property)} end as ${quoteIdentifier(property.name)}`,
  )
  const [mx, my] = ['st_x("mvt p")', 'st_y("mvt p")']
  const [west, south, east, north] = ['xmin', 'ymin', 'xmax', 'ymax'].map((end) => `st_${end}(${envelope})`)
  const inside = [
    ...(x === 0 ? [] : [`${mx} >= ${west}`]),
    ...(x === last ? [] : [`${mx} < ${east}`]),
    `${my} ${y === last ? '>=' : '>'} ${south}`,
    `${my} <= ${north}`,
  ]
  const index = (meters: string) => `least(greatest(floor((${meters}) / ${side}), 0), ${most})`
  const clusters = `select st_setsrid(st_makepoint(avg(${mx}), avg(${my})), 3857) as "mvt geom", count(*) as "mvt count"${alone.join('')}
    from (select source.*, st_transform(st_centroid(${layer.geometry}), 3857) as "mvt p" ${where}) source
    where ${inside.join(' and ')}
    group by ${index(`${mx} - ${west}`)}, ${index(`${north} - ${my}`)}`
  return { clusters, envelope }
}

/** The value of a group's one row; a list of all values would take memory for each. */
function onlyValue({ name, type }: Property): string {
  const column = `source.${quoteIdentifier(name)}::${type}`
  return type === 'bool' ? `bool_and(${column})` : `min(${column})`
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
  const { z, x, y, limit, conditions } = query
  const filters = whereClause(conditions, 'source', parameters).replace(/^ where /, ' and ')
  return {
    envelope: `st_tileenvelope(${z}, ${x}, ${y})`,
    where: `from ${layer.source} as source where ${nearTile(layer, query)}${filters} limit ${limit}`,
  }
}

const WORLD = 40_075_016.685_578_49
/** Below it a tile may reach beyond the area of a projection, where boxes mean nothing. */
const LEAST_BOX_ZOOM = 6

/** A condition that holds for all rows within the buffer of a tile, and for few others. */
function nearTile({ geometry, srid }: Layer, { z, x, y, buffer }: TileQuery): string {
  const margin = buffer / 4096
  const [west, east] = [(x - margin) / 2 ** z, (x + 1 + margin) / 2 ** z]
  const [north, south] = [(y - margin) / 2 ** z, (y + 1 + margin) / 2 ** z]
  if (srid === 4326) {
    // A box that ends at the antimeridian leaves out what lies on it.
    const [left, right] = [west <= 0 ? -FAR : west * 360 - 180, east >= 1 ? FAR : east * 360 - 180]
    return `${geometry} && st_makeenvelope(${[left, latitudeOf(south), right, latitudeOf(north), srid].join(', ')})`
  }
  const corners = [west - 0.5, 0.5 - south, east - 0.5, 0.5 - north].map((part) => part * WORLD)
  const meters = `st_makeenvelope(${corners.join(', ')}, 3857)`
  if (srid === 3857) return `${geometry} && ${meters}`
  if (srid === 0 || z < LEAST_BOX_ZOOM) return `st_transform(${geometry}, 3857) && ${meters}`
  // Edges are curves in another projection: of their points, and a little more.
  const side = WORLD / 2 ** z
  return `${geometry} && (select st_expand(b, (st_xmax(b) - st_xmin(b)) / 50, (st_ymax(b) - st_ymin(b)) / 50) from (select st_transform(st_segmentize(${meters}, ${side / 8}), ${srid}) as b) e)`
}

/** Degrees that no row reaches. */
const FAR = 1000

/** Latitude of a height in Web Mercator: 0 at the top of the world, 1 at its end. */
function latitudeOf(height: number): number {
  return (Math.atan(Math.sinh((1 - 2 * height) * Math.PI)) * 180) / Math.PI
}
