import type { Bbox } from '@terrane/core'
import { clipImport, finishImportTable, isFinishedImportTable, measureImport } from '@terrane/database/imports'
import { SCHEMA } from '../import-names.ts'
import { finishPages, stagedPages } from '../osm-update/pages-table.ts'
import { OSM_ATTRIBUTION, OSM_COPYRIGHT, OSM_LICENCE } from './licence.ts'
import type { AreaImport, Loaded } from './load-extract.ts'

/** One table that was made, as the job's result shows it. */
export interface TableResult {
  readonly schema: string
  readonly name: string
  readonly topic: string
  readonly rows: number
  readonly geometry_type: string
  readonly srid: number
  readonly bbox: Bbox | null
}

/** Clips and indexes the tables, two at a time where the server has more than one session. */
export async function finishTables(
  { input, aoi, targets, context }: AreaImport,
  loaded: Pick<Loaded, 'tables'>,
): Promise<TableResult[]> {
  const { signal } = context
  const { database } = context.project
  const comment = `OpenStreetMap data of ${input.areaName}. ${OSM_ATTRIBUTION}, ${OSM_LICENCE}: ${OSM_COPYRIGHT}`
  const area = aoi.toGeoJson()
  const results: TableResult[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < targets.length) {
      signal.throwIfAborted()
      const i = next++
      const { table, staged, shape } = targets[i]!
      const message = `indexing ${staged.table}`
      context.progress({ phase: 'indexes', done: i, total: targets.length, unit: 'tables', message })
      if (!(await isFinishedImportTable(database, staged))) {
        await database.transaction(async (session) => {
          if (input.clip) await clipImport(session, staged, shape, area)
          await finishImportTable(session, staged, shape, comment)
        })
      }
      const { rows, bbox } = input.clip ? await measureImport(database, staged) : loaded.tables[i]!
      const { topic, geometryType } = table
      results[i] = { schema: SCHEMA, name: staged.table, topic, rows, geometry_type: geometryType, srid: 4326, bbox }
    }
  }
  const pages = stagedPages(context.run, targets.length)
  if (input.updatable && !(await isFinishedImportTable(database, pages))) await finishPages(database, pages)
  const lanes = await Promise.allSettled(database.capabilities.parallel ? [work(), work()] : [work()])
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
  return results
}
