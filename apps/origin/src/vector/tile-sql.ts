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
  /** Side of the squares whose points are merged, in units of 1/4096 of the tile's side; null for no clustering. */
  readonly cluster: number | null
  /** Whether a second layer has one point for each area, in the tile in which it lies. */
  readonly hasLabelPoints: boolean
  readonly conditions: readonly Condition[]
}

/** SQL that returns the whole tile as `tile`, encoded by the database. */
export function tileSql(layer: Layer, query: TileQuery, parameters: Parameters): string {
  const features = featuresSql(layer, query, parameters)
  if (!query.hasLabelPoints) return features
  const { points, envelope } = labelPointsOf(layer, query, parameters)
  const geometry = `st_asmvtgeom("mvt p", ${envelope}, 4096, 0, true)`
  return `select (${features}) || (${layerSql(layer, labelLayerOf(layer), geometry, points)}) as tile`
}

function featuresSql(layer: Layer, query: TileQuery, parameters: Parameters): string {
  if (query.cluster !== null) {
    const { clusters, envelope } = clustersOf(layer, query, parameters)
    return `select st_asmvt(page.*, ${quoteLiteral(layer.table)}::text, 4096, 'mvt geom') as tile from (
      select st_asmvtgeom("mvt geom", ${envelope}, 4096, 0, true) as "mvt geom", ${listed(layer)} from (${clusters}) c) as page where "mvt geom" is not null`
  }
  const { where, envelope } = rowsOf(layer, query, parameters)
  const geometry = `st_asmvtgeom(st_transform(${straight(layer)}, 3857), ${envelope}, 4096, ${query.buffer}, true)`
  return layerSql(layer, layer.table, geometry, where)
}

function layerSql(layer: Layer, name: string, geometry: string, from: string): string {
  const [id, feature] = layer.id === null ? ['', ''] : [`, ${idSql(layer)} as "mvt id"`, `, 'mvt id'`]
  // With `page.*`, because `page` alone could name a column.
  return `select st_asmvt(page.*, ${quoteLiteral(name)}::text, 4096, 'mvt geom'${feature}) as tile from (
    select ${geometry} as "mvt geom"${id}${columns(layer)} ${from}) as page where "mvt geom" is not null`
}

/** SQL that returns the rows of a tile for our encoder: `mvt geom` (EWKB, 4326), `mvt id` and the properties. */
export function rowsSql(layer: Layer, query: TileQuery, parameters: Parameters): string {
  if (query.cluster !== null) {
    const { clusters } = clustersOf(layer, query, parameters)
    return `select st_asewkb(st_transform("mvt geom", 4326)) as "mvt geom", null::int8 as "mvt id", ${listed(layer)} from (${clusters}) c`
  }
  const { where } = rowsOf(layer, query, parameters)
  return ewkbSql(layer, layer.srid === 4326 ? straight(layer) : `st_transform(${straight(layer)}, 4326)`, where)
}

function ewkbSql(layer: Layer, geometry: string, from: string): string {
  const id = layer.id === null ? 'null::int8' : idSql(layer)
  return `select st_asewkb(${geometry}) as "mvt geom", ${id} as "mvt id"${columns(layer)} ${from}`
}

/** Name of the layer with the points at which the areas of a layer are labelled. */
export function labelLayerOf({ table }: Pick<Layer, 'table'>): string {
  return `${table}:labels`
}

/** SQL that returns the label points of a tile for our encoder, as {@link rowsSql} returns its rows. */
export function labelRowsSql(layer: Layer, query: TileQuery, parameters: Parameters): string {
  return ewkbSql(layer, 'st_transform("mvt p", 4326)', labelPointsOf(layer, query, parameters).points)
}

/** Areas whose box has a shorter diagonal than this share of a tile have no label: two pixels. */
const LEAST_LABELLED = 1 / 256

/** A point within each area of a tile, if the point lies in the tile: an area in several tiles is labelled once. */
function labelPointsOf(layer: Layer, query: TileQuery, parameters: Parameters): { points: string; envelope: string } {
  const { geometry, srid } = layer
  const least = LEAST_LABELLED / 2 ** query.z
  const diagonal = `st_boundingdiagonal(${geometry})`
  const latitude = `least(greatest(abs(st_ymin(${geometry})), abs(st_ymax(${geometry}))), 90)`
  // The parts of areas beyond the antimeridian and the ends of the map are not drawn.
  const world =
    srid === 4326 ? `st_makeenvelope(-180, -${LAST_LATITUDE}, 180, ${LAST_LATITUDE}, 4326)` : `st_tileenvelope(0, 0, 0)`
  const drawn = srid === 4326 || srid === 3857 ? `st_clipbybox2d(${straight(layer)}, ${world})` : straight(layer)
  const { where, envelope } = rowsOf(layer, { ...query, buffer: 64, limit: ALL }, parameters, [
    `st_dimension(${geometry}) = 2`,
    // Small areas are found without a projection, which takes ten times as long.
    ...(srid === 4326 ? [`st_length(${diagonal}) > ${least * 360} * cosd(${latitude})`] : []),
    `st_length(st_transform(${diagonal}, 3857)) > ${least * WORLD}`,
  ])
  // With a limit inside, so that the database finds each point once.
  const points = `from (select source.*, st_transform(st_pointonsurface(${drawn}), 3857) as "mvt p" ${where}) source
    where ${insideOf(query, envelope, '"mvt p"')} limit ${query.limit}`
  return { points, envelope }
}

/** A condition that is true for each point in exactly one tile of a zoom, also at the edges of the world. */
function insideOf({ z, x, y }: TileQuery, envelope: string, point: string): string {
  const last = 2 ** z - 1
  const [mx, my] = [`st_x(${point})`, `st_y(${point})`]
  const [west, south, east, north] = ['xmin', 'ymin', 'xmax', 'ymax'].map((end) => `st_${end}(${envelope})`)
  return [
    ...(x === 0 ? [] : [`${mx} >= ${west}`]),
    ...(x === last ? [] : [`${mx} < ${east}`]),
    `${my} ${y === last ? '>=' : '>'} ${south}`,
    `${my} <= ${north}`,
  ].join(' and ')
}

/** Clusters have no row limit, because partial counts would be wrong; the statement's timeout is the limit. */
const ALL = 2_147_483_647
/** Property of a cluster: the number of its rows. */
export const POINT_COUNT = 'point_count'

/**
 * Rows of a tile, grouped by squares of a grid that all tiles share: the mean of their points in Web Mercator, and
 * their number. A single row in a square keeps its properties. Squares end at the tile's edge, so no row counts twice;
 * squares at the edges of the world include the rows on its edge.
 */
function clustersOf(layer: Layer, query: TileQuery, parameters: Parameters): { clusters: string; envelope: string } {
  // The buffer only preselects rows; the comparison below decides at the edges.
  const { where, envelope } = rowsOf(layer, { ...query, buffer: 64, limit: ALL }, parameters)
  const side = ((query.cluster ?? 0) / 4096) * (WORLD / 2 ** query.z)
  const most = 4096 / (query.cluster ?? 1) - 1
  const alone = layer.properties.map(
    (property) => `, case when count(*) = 1 then ${onlyValue(property)} end as ${quoteIdentifier(property.name)}`,
  )
  const [mx, my] = ['st_x("mvt p")', 'st_y("mvt p")']
  const [west, north] = ['xmin', 'ymax'].map((end) => `st_${end}(${envelope})`)
  const index = (meters: string) => `least(greatest(floor((${meters}) / ${side}), 0), ${most})`
  const clusters = `select st_setsrid(st_makepoint(avg(${mx}), avg(${my})), 3857) as "mvt geom", count(*) as "mvt count"${alone.join('')}
    from (select source.*, st_transform(st_centroid(${layer.geometry}), 3857) as "mvt p" ${where}) source
    where ${insideOf(query, envelope, '"mvt p"')}
    group by ${index(`${mx} - ${west}`)}, ${index(`${north} - ${my}`)}`
  return { clusters, envelope }
}

/** The value of a group's only row; a list of all values would need memory for each. */
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

/** Types are cast explicitly, so that both encoders give the same values. */
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

function rowsOf(layer: Layer, query: TileQuery, parameters: Parameters, more: readonly string[] = []) {
  const { z, x, y, limit, conditions } = query
  const filters = whereClause(conditions, 'source', parameters).replace(/^ where /, ' and ')
  return {
    envelope: `st_tileenvelope(${z}, ${x}, ${y})`,
    where: `from ${layer.source} as source where ${[nearTile(layer, query), ...more].join(' and ')}${filters} limit ${limit}`,
  }
}

const WORLD = 40_075_016.685_578_49
/** At lower zooms a tile may exceed the area of a projection, where its box is meaningless. */
const LEAST_BOX_ZOOM = 6

/** A condition that is true for all rows within the buffer of a tile, and for few others. */
function nearTile({ geometry, srid }: Layer, { z, x, y, buffer }: TileQuery): string {
  const margin = buffer / 4096
  const [west, east] = [(x - margin) / 2 ** z, (x + 1 + margin) / 2 ** z]
  const [north, south] = [(y - margin) / 2 ** z, (y + 1 + margin) / 2 ** z]
  if (srid === 4326) {
    // A box that ends exactly at the antimeridian would exclude points on it.
    const [left, right] = [west <= 0 ? -FAR : west * 360 - 180, east >= 1 ? FAR : east * 360 - 180]
    return `${geometry} && st_makeenvelope(${[left, latitudeOf(south), right, latitudeOf(north), srid].join(', ')})`
  }
  const corners = [west - 0.5, 0.5 - south, east - 0.5, 0.5 - north].map((part) => part * WORLD)
  const meters = `st_makeenvelope(${corners.join(', ')}, 3857)`
  if (srid === 3857) return `${geometry} && ${meters}`
  if (srid === 0 || z < LEAST_BOX_ZOOM) return `st_transform(${geometry}, 3857) && ${meters}`
  // Straight edges become curves, so the box is made from points along them and enlarged a little.
  const side = WORLD / 2 ** z
  return `${geometry} && (select st_expand(b, (st_xmax(b) - st_xmin(b)) / 50, (st_ymax(b) - st_ymin(b)) / 50) from (select st_transform(st_segmentize(${meters}, ${side / 8}), ${srid}) as b) e)`
}

/** Latitude at which a map in Web Mercator ends. */
const LAST_LATITUDE = 85.051128
/** Degrees beyond every possible row. */
const FAR = 1000

/** Latitude of a relative position in Web Mercator: 0 at the north edge of the world, 1 at the south edge. */
function latitudeOf(height: number): number {
  return (Math.atan(Math.sinh((1 - 2 * height) * Math.PI)) * 180) / Math.PI
}
