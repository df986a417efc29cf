import type { Aoi, Bbox } from '@terrane/core'
import { qualified } from '@terrane/database'
import { bulkLoad, type Column } from '@terrane/database/bulk-load'
import { clipImport, mergeImport, type MergedRows } from '@terrane/database/imports'
import { STAGING_SCHEMA, holdRun, stagedTable, type StagedTable } from '@terrane/database/staging'
import type { Session } from '@terrane/database'
import { fileSource } from '@terrane/osm'
import { importAffected, planUpdate, readChanges, type UpdatePlan } from '@terrane/osm/updates'
import { StagingSink } from '../osm/staging-sink.ts'
import type { Target } from '../osm/targets.ts'
import type { JobContext } from '../task.ts'
import {
  advance,
  progressOf,
  type DataMark,
  type OsmImport,
  type TableChanges,
  type UpdateProgress,
} from './catalogue.ts'
import { changedTiles } from './changed-tiles.ts'
import { updateOvertaken } from './errors.ts'
import { createPages, loadPages, mergePages, pageStore, stagedPages } from './pages-table.ts'

/** The tables of an import, and which of them are still there. */
export interface UpdateTargets {
  readonly targets: readonly Target[]
  readonly isThere: readonly boolean[]
  readonly aoi: Aoi
}

const AFFECTED: readonly Column[] = [
  { name: 'osm_type', type: 'text' },
  { name: 'osm_id', type: 'int8' },
]
/** Maximum boxes that are stored per table and file, and shown per table. */
const MOST_BOXES = 256
const CHANGES_KEPT = `interval '30 days'`

/** Applies change files to an import, each in one transaction with the state of the import. */
export class Merging {
  #known: OsmImport
  #progress: UpdateProgress = { version: 0, files: 0, tables: {} }
  readonly #tables: UpdateTargets
  readonly #context: JobContext
  readonly #affected: StagedTable
  readonly #pages: StagedTable
  readonly #memoryBytes: number

  /** @param memoryBytes for the elements of a change file */
  constructor(known: OsmImport, tables: UpdateTargets, context: JobContext, memoryBytes: number) {
    const { run } = context
    this.#known = known
    this.#tables = tables
    this.#context = context
    this.#memoryBytes = memoryBytes
    this.#affected = stagedTable(run, tables.targets.length, 'public', '')
    this.#pages = stagedPages(run, tables.targets.length + 1)
  }

  /** Files that this job has applied, in earlier runs too. */
  get files(): number {
    return this.#progress.files
  }

  /** State of the data. */
  get mark(): DataMark {
    return this.#known
  }

  /**
   * Reads the progress of earlier runs of the job, and creates the staging tables.
   *
   * @param isResumable whether the job may continue if other jobs have updated the import since its last file
   * @throws OSM_UPDATE_OVERTAKEN
   */
  async open({ isResumable }: { readonly isResumable: boolean }): Promise<void> {
    const { project, run } = this.#context
    const { database } = project
    const { version, prefix } = this.#known
    this.#progress = (await progressOf(database, run.jobId)) ?? this.#progress
    if (!isResumable && this.files > 0 && this.#progress.version !== version) throw updateOvertaken({ prefix })
    const table = qualified(STAGING_SCHEMA, this.#affected.staging)
    await database.query(`drop table if exists ${table}; create table ${table} (osm_type text, osm_id int8)`)
    await createPages(database, this.#pages)
  }

  /**
   * Applies one change file.
   *
   * @throws OSM_UPDATE_OVERTAKEN, RUN_SUPERSEDED and what the reader and the database throw; nothing is changed then
   */
  async apply(path: string, mark: DataMark): Promise<void> {
    const { signal, project } = this.#context
    const { database } = project
    const changes = await readChanges(await fileSource(path), { signal, memoryBytes: this.#memoryBytes })
    const plan = await planUpdate(changes, pageStore(database, this.#known.pagesTable), this.#known.extent)
    signal.throwIfAborted()
    const rows = await this.#stage(plan)
    await database.transaction(async (session) => {
      await holdRun(session, this.#context.run)
      const progress = await this.#merge(session, rows, mark)
      await advance(session, this.#known, mark, { ...progress, jobId: this.#context.run.jobId })
      this.#progress = progress
    })
    this.#known = { ...this.#known, ...mark, version: this.#known.version + 1 }
  }

  /** Changes of the job so far, earlier runs included. */
  async results(): Promise<{ tables: object[]; files: number; mark: DataMark }> {
    const { database } = this.#context.project
    await database.query(
      `delete from terrane.changes where changed_at < now() - ${CHANGES_KEPT};
       delete from terrane.osm_updates where updated_at < now() - ${CHANGES_KEPT}`,
    )
    const { rows } = await database.query<{ name: string; boxes: Bbox[]; rows: number }>(
      `select table_name as name, json_agg(distinct c.bbox) as boxes, max(i.rows) as rows
       from terrane.changes c join terrane.imports i using (table_schema, table_name) where c.job_id = $1 group by 1`,
      [this.#context.run.jobId],
    )
    const found = new Map(rows.map((row) => [row.name, row]))
    const changed = this.#tables.targets.flatMap(({ staged: { schema, table }, shape: { geometryType } }) => {
      const counts = this.#progress.tables[table]
      if (!counts) return []
      const { rows: left = 0, boxes = [] } = found.get(table) ?? {}
      const about = { schema, name: table, rows: left, geometry_type: geometryType }
      return [{ ...about, ...counts, boxes: changedTiles(boxes, MOST_BOXES) }]
    })
    return { tables: changed, files: this.files, mark: this.mark }
  }

  /** Loads the new rows, the affected elements and the pages into staging tables; returns the rows of each. */
  async #stage(plan: UpdatePlan): Promise<number[]> {
    const { project, signal } = this.#context
    const { database } = project
    const { targets, aoi } = this.#tables
    const rows = targets.map(() => 0)
    const staged = new StagingSink(database, targets, signal)
    const sink = {
      write: (table: number, batch: readonly unknown[][]) => {
        rows[table]! += batch.length
        return batch.length > 0 ? staged.write(table, batch) : undefined
      },
    }
    try {
      await importAffected(plan, { aoi, topics: this.#known.topics }, sink, { signal })
      const ids = Object.entries({ N: plan.affected.node, W: plan.affected.way, R: plan.affected.relation })
      const affected = ids.flatMap(([letter, set]) => [...set].map((id) => [letter, id]))
      const place = { schema: STAGING_SCHEMA, table: this.#affected.staging, columns: AFFECTED }
      await staged.also(() => bulkLoad(database, place, [affected], { signal }))
      await staged.also(() => loadPages(database, this.#pages, plan.pages))
      await staged.finish()
    } finally {
      await staged.settle()
    }
    return rows
  }

  async #merge(session: Session, rows: readonly number[], mark: DataMark): Promise<UpdateProgress> {
    const { clip, pagesTable } = this.#known
    const { targets, isThere, aoi } = this.#tables
    const affected = qualified(STAGING_SCHEMA, this.#affected.staging)
    const tables: Record<string, TableChanges> = { ...this.#progress.tables }
    const used = [affected, qualified(STAGING_SCHEMA, this.#pages.staging)]
    await session.query(`analyze ${affected}`)
    for (const [i, { staged, shape }] of targets.entries()) {
      const hasRows = rows[i]! > 0
      if (hasRows) used.push(qualified(STAGING_SCHEMA, staged.staging))
      if (!isThere[i]) continue
      if (clip && hasRows) await clipImport(session, staged, shape, aoi.toGeoJson())
      const merged = await mergeImport(session, staged, shape, { affected, hasRows })
      if (merged.boxes.length === 0) continue
      tables[staged.table] = sum(tables[staged.table], merged)
      await this.#tell(session, staged, merged, mark)
    }
    await mergePages(session, this.#pages, pagesTable)
    await session.query(`truncate ${used.join(', ')}`)
    return { version: this.#known.version + 1, files: this.files + 1, tables }
  }

  /** Records the boxes that changed in a table, and updates its number of rows. */
  async #tell(session: Session, { schema, table }: StagedTable, merged: MergedRows, { sequence }: DataMark) {
    const tiles = changedTiles(merged.boxes, MOST_BOXES)
    await session.query(
      `insert into terrane.changes (table_schema, table_name, bbox, sequence, job_id)
       select $1, $2, array[west, south, east, north], $3, $4
       from unnest($5::float8[], $6::float8[], $7::float8[], $8::float8[]) as b (west, south, east, north)`,
      [schema, table, sequence, this.#context.run.jobId, ...[0, 1, 2, 3].map((side) => tiles.map((box) => box[side]))],
    )
    await session.query('update terrane.imports set rows = rows + $3 where table_schema = $1 and table_name = $2', [
      schema,
      table,
      merged.inserted - merged.deleted,
    ])
  }
}

function sum(before: TableChanges | undefined, { inserted, updated, deleted }: MergedRows): TableChanges {
  return {
    inserted: inserted + (before?.inserted ?? 0),
    updated: updated + (before?.updated ?? 0),
    deleted: deleted + (before?.deleted ?? 0),
  }
}
