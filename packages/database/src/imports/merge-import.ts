import { STAGING_SCHEMA, type StagedTable } from '../staging/staging.ts'
import { qualified, quoteIdentifier, type Session } from '../database.ts'
import type { ImportShape } from './import-table.ts'

/** Changes of a merge, with the boxes (west, south, east, north) of the rows before and after. */
export interface MergedRows {
  readonly inserted: number
  readonly updated: number
  readonly deleted: number
  readonly boxes: readonly Box[]
}

type Box = readonly [west: number, south: number, east: number, north: number]

/**
 * Replaces the rows of some elements of OpenStreetMap by the rows of a staging table: equal rows are not touched,
 * changed rows keep their `id`, and rows that are missing in the staging table are deleted.
 *
 * @param affected SQL of a table with the columns `osm_type` and `osm_id`
 * @param hasRows whether the staging table has any rows
 */
export async function mergeImport(
  session: Session,
  staged: StagedTable,
  shape: ImportShape,
  { affected, hasRows }: { readonly affected: string; readonly hasRows: boolean },
): Promise<MergedRows> {
  const target = qualified(staged.schema, staged.table)
  const source = qualified(STAGING_SCHEMA, staged.staging)
  const same = shape
    .unique!.map(quoteIdentifier)
    .map((name) => `t.${name} = s.${name}`)
    .join(' and ')
  const names = shape.columns.map(({ name }) => name).filter((name) => name !== shape.primaryKey)
  const list = (alias = '') => names.map((name) => alias + quoteIdentifier(name)).join(', ')
  // A node is never a line or an area.
  const kinds = shape.geometryType === 'Point' ? '' : `and a.osm_type <> 'N'`
  const deleted = await session.query<BoxRow>(
    `with gone as (
       delete from ${target} t using ${affected} a where t.osm_type = a.osm_type and t.osm_id = a.osm_id ${kinds}
         ${hasRows ? `and not exists (select from ${source} s where ${same})` : ''} returning t.geom)
     select ${boxSql('geom')} as after from gone`,
  )
  if (!hasRows) return merged([], [], deleted.rows)
  const key = quoteIdentifier(shape.primaryKey)
  // The aliases contain a space, which no column name does.
  const updated = await session.query<BoxRow>(
    `with changed as (
       select t.${key} as "changed row", t.geom as "geom before", ${list('s.')} from ${source} s join ${target} t on ${same}
       where (${list('t.')}) is distinct from (${list('s.')})),
     done as (update ${target} t set (${list()}) = row(${list('c.')}) from changed c where t.${key} = c."changed row")
     select ${boxSql('"geom before"')} as before, ${boxSql('geom')} as after from changed`,
  )
  const inserted = await session.query<BoxRow>(
    `with added as (
       insert into ${target} (${list()}) select ${list('s.')} from ${source} s
       where not exists (select from ${target} t where ${same}) order by s.${key} returning geom)
     select ${boxSql('geom')} as after from added`,
  )
  return merged(inserted.rows, updated.rows, deleted.rows)
}

interface BoxRow {
  readonly after: Box
  readonly before?: Box
  readonly [column: string]: unknown
}

function merged(inserted: readonly BoxRow[], updated: readonly BoxRow[], deleted: readonly BoxRow[]): MergedRows {
  const boxes = [...inserted, ...updated, ...deleted].flatMap(({ before, after }) =>
    before ? [before, after] : [after],
  )
  return { inserted: inserted.length, updated: updated.length, deleted: deleted.length, boxes }
}

function boxSql(geometry: string): string {
  return `array[st_xmin(${geometry}), st_ymin(${geometry}), st_xmax(${geometry}), st_ymax(${geometry})]`
}
