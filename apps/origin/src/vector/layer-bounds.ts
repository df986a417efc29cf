import { quoteLiteral, type Session } from '@terrane/database'
import { geometrySql, type Layer } from './layer.ts'

/** Rows up to which bounds are computed; those of larger tables are the root of their spatial index, or the statistics. */
const COUNTED_ROWS = 100_000

/**
 * West, south, east, north of the rows that the caller may see; the world for a large table that has neither a spatial
 * index nor statistics, or rows that are hidden from the caller.
 */
export async function boundsOf(session: Session, layer: Layer): Promise<readonly number[]> {
  const world = [-180, -85.0511, 180, 85.0511]
  const isLarge = layer.rows !== null && layer.rows > COUNTED_ROWS
  if (isLarge && (layer.srid === 0 || layer.isGeography)) return world
  const in4326 = layer.srid === 4326 || layer.srid === 0 ? 'box' : 'st_transform(box, 4326)'
  const name = quoteLiteral(layer.source)
  const table = [layer.schema, layer.table, layer.column].map(quoteLiteral).join(', ')
  const extent = isLarge
    ? `select case when not row_security_active(${name}) then st_setsrid(st_estimatedextent(${table}), ${layer.srid}) end as box`
    : `select st_setsrid(st_extent(g), max(st_srid(g))) as box from (select ${geometrySql(layer)} as g from ${layer.source} as source limit ${COUNTED_ROWS}) rows`
  const { rows } = await session.query<Record<'w' | 's' | 'e' | 'n', number | null>>(
    `select st_xmin(b) as w, st_ymin(b) as s, st_xmax(b) as e, st_ymax(b) as n from (select ${in4326} as b from (${extent}) boxes) shown`,
  )
  const { w = null, s = null, e = null, n = null } = rows[0] ?? {}
  return w === null || s === null || e === null || n === null ? world : [w, s, e, n]
}
