import { qualified, quoteIdentifier, type Database } from '@terrane/database'
import { cellPolygons, coverArea } from '@terrane/embeddings/srai'
import { findTable } from '@terrane/exports'
import { WkbCursor } from '@terrane/core/wkb'
import { areasMissing, tooManyRows } from './errors.ts'
import { ringsOfPlace } from './places.ts'
import type { AreaRings } from './pool-protocol.ts'

/** An area that becomes a row. */
export interface PoolArea {
  readonly id: string
  readonly rings: AreaRings
  /** The rings that the table stores. */
  readonly outer: readonly Float64Array[]
}

/** Outline of a raster: rings in longitude and latitude. */
export type Ground = readonly (readonly (readonly [number, number])[])[]

/** The H3 cells that intersect a raster. @throws size_guard_exceeded */
export function cellAreas(ground: Ground, resolution: number, maxRows: number): PoolArea[] {
  const area = ground.map((ring) => [ring])
  const cells = coverArea({ area, resolution, maxCells: { limit: maxRows, setting: 'worker.maxPatches' } })
  return cells.map((id) => {
    const outer = cellPolygons(id).map(([ring]) => Float64Array.from(ring!.flat()))
    return { id, rings: outer, outer }
  })
}

/** The areas of a table that intersect a raster. @throws TABLE_NOT_FOUND, AREAS_MISSING, size_guard_exceeded */
export async function tableAreas(
  database: Database,
  { schema, table, idColumn }: { readonly schema: string; readonly table: string; readonly idColumn: string },
  ground: Ground,
  maxRows: number,
): Promise<PoolArea[]> {
  const source = await findTable(database, { schema, table })
  const { geometry, columns } = source
  if (!geometry || !columns.some(({ name }) => name === idColumn)) throw areasMissing({ table, idColumn })
  const shape = `st_transform(${quoteIdentifier(geometry.name)}::geometry, 4326)`
  const limit = maxRows > 0 ? ` limit ${maxRows + 1}` : ''
  // Far from a raster its projection gives arbitrary positions, so only parts of an area near it are pooled.
  const near = `st_intersection(st_makevalid(${shape}), st_buffer(st_setsrid(st_geomfromtext($1), 4326), $2, 'join=mitre'))`
  const { rows } = await database.query<{ id: string | null; wkb: Buffer; near: Buffer }>(
    `select ${quoteIdentifier(idColumn)}::text as id, st_asbinary(${shape}, 'NDR') as wkb,
       st_asbinary(st_collectionextract(${near}, 3), 'NDR') as near from ${qualified(schema, table)}
     where st_dimension(${quoteIdentifier(geometry.name)}::geometry) = 2
       and st_intersects(${shape}, st_setsrid(st_geomfromtext($1), 4326)) order by 1${limit}`,
    [`MULTIPOLYGON(${ground.map((ring) => `((${ring.map((at) => at.join(' ')).join()}))`).join()})`, marginOf(ground)],
  )
  if (maxRows > 0 && rows.length > maxRows) throw tooManyRows({ rows: rows.length, limit: maxRows })
  const areas = rows.flatMap(({ id, wkb, near: part }, i) => {
    const outer = ringsOfPlace(wkb, null)?.rings
    return outer ? [{ id: id ?? String(i), rings: allRings(part), outer }] : []
  })
  if (areas.length === 0) throw areasMissing({ table, idColumn })
  return areas
}

/** Margin around a raster in degrees: half its extent, 0.01 to 1, which stays off the poles of a Mercator raster. */
function marginOf(ground: Ground): number {
  const extents = [0, 1].map((axis) => {
    const numbers = ground.flat().map((at) => at[axis]!)
    return Math.max(...numbers) - Math.min(...numbers)
  })
  return Math.min(1, Math.max(0.01, Math.max(...extents) / 2))
}

const cursor = new WkbCursor()

/** All rings of a polygon or multipolygon of two dimensions. */
function allRings(wkb: Uint8Array): Float64Array[] {
  cursor.open(wkb, 0, wkb.length)
  const parts = cursor.head() === 6 ? cursor.count(9) : null
  const rings: Float64Array[] = []
  for (let part = 0; part < (parts ?? 1); part++) {
    if (parts !== null) cursor.head()
    const count = cursor.count(4)
    for (let i = 0; i < count; i++) {
      const positions = cursor.count(cursor.stride)
      const ring = new Float64Array(2 * positions)
      for (let k = 0; k < positions; k++, cursor.at += cursor.stride) {
        ring[2 * k] = cursor.view.getFloat64(cursor.at, cursor.little)
        ring[2 * k + 1] = cursor.view.getFloat64(cursor.at + 8, cursor.little)
      }
      rings.push(ring)
    }
  }
  return rings
}
