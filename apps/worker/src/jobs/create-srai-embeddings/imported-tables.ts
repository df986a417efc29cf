import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Aoi } from '@terrane/core'
import { qualified, quoteLiteral, type Database } from '@terrane/database'
import { areaFromGeoJson } from '@terrane/database/imports'
import { scan } from '@terrane/database/scan'
import { TOPIC_TABLES } from '@terrane/osm'
import { importedTablesMissing } from './errors.ts'

/** A table that osmImportArea made of a topic. */
export interface ImportedTable {
  readonly name: string
  readonly suffix: string
  readonly attribution: string
  readonly licence: string
  readonly source: Readonly<Record<string, unknown>>
  /** Areas may have been reduced to points. */
  readonly reduced: boolean
  /** A line may be split into several rows. */
  readonly inParts: boolean
}

const SCHEMA = 'public'
const SUFFIXES: ReadonlySet<string> = new Set(TOPIC_TABLES.map(({ name }) => name))
/** The tables of the topic `all`, which hold every feature. */
const WHOLE: readonly string[] = TOPIC_TABLES.filter(({ topic }) => topic === 'all').map(({ name }) => name)

/** The existing tables of an import, by their prefix. @throws IMPORTED_TABLES_MISSING */
export async function findImportedTables(database: Database, prefix: string): Promise<ImportedTable[]> {
  const { rows } = await database.query<Omit<ImportedTable, 'suffix'> & { columns: readonly string[] }>(
    `select i.table_name as name, i.attribution, i.licence, i.source,
       array_agg(c.column_name::text) as columns
     from terrane.imports i
     join information_schema.columns c on c.table_schema = i.table_schema and c.table_name = i.table_name
     where i.table_schema = $1 and i.task = 'osmImportArea' and not i.source ? 'style' and starts_with(i.table_name, $2)
     group by i.table_schema, i.table_name order by 1`,
    [SCHEMA, `${prefix}_`],
  )
  const found = rows.flatMap(({ columns, ...table }) => {
    const suffix = table.name.slice(prefix.length + 1)
    const usable =
      SUFFIXES.has(suffix) && ['osm_type', 'osm_id', 'tags', 'geom'].every((name) => columns.includes(name))
    if (!usable) return []
    return [{ ...table, suffix, reduced: columns.includes('from_area'), inParts: columns.includes('part') }]
  })
  if (found.length === 0) throw importedTablesMissing({ prefix })
  return found
}

/** True when the tables hold every feature, not only those of some topics. */
export function holdEverything(tables: readonly ImportedTable[]): boolean {
  return WHOLE.every((suffix) => tables.some((table) => table.suffix === suffix))
}

/**
 * Writes the features that touch an area and have one of the keys to a file, one JSON text per line, each feature once:
 * where several tables hold it, as an area rather than a line, and as either rather than a point. Returns their number.
 */
export async function dumpTables(
  database: Database,
  tables: readonly ImportedTable[],
  { aoi, keys, path }: { readonly aoi: Aoi; readonly keys: readonly string[]; readonly path: string },
): Promise<number> {
  const area = areaFromGeoJson(quoteLiteral(JSON.stringify(aoi.toGeoJson())))
  const wanted = `array[${keys.map(quoteLiteral).join(', ')}]::text[]`
  const selects = tables.map((table) => selectFrom(table, wanted))
  const from = `(
    with area as materialized (select ${area} as area), feature as (${selects.join('\nunion all\n')})
    select distinct on (osm_type, osm_id) tags, geom from feature
    order by osm_type, osm_id, reduced, st_dimension(geom) desc
  ) feature`
  const line = `json_build_object('tags', tags, 'geometry', st_asgeojson(geom, 9)::json)`
  let rows = 0
  const lines = async function* (): AsyncGenerator<string> {
    for await (const batch of scan(database, [{ sql: line, type: 'text' }], from)) {
      const [texts] = batch.columns
      if (!Array.isArray(texts)) throw new TypeError('texts come as a list')
      rows += texts.length
      yield `${texts.join('\n')}\n`
    }
  }
  await pipeline(lines, createWriteStream(path))
  return rows
}

function selectFrom({ name, reduced, inParts }: ImportedTable, keys: string): string {
  const table = `${qualified(SCHEMA, name)} t join area a on st_intersects(t.geom, a.area) where t.tags ?| ${keys}`
  const isReduced = reduced ? 't.from_area' : 'false'
  if (!inParts) return `select t.osm_type, t.osm_id, t.tags, t.geom, ${isReduced} as reduced from ${table}`
  return `select t.osm_type, t.osm_id, min(t.tags::text)::jsonb, st_collect(t.geom), bool_and(${isReduced}) from ${table}
    group by t.osm_type, t.osm_id`
}
