import { OvertureImportArea } from '@terrane/contracts'
import { readAoi } from '@terrane/core'
import { finishImportTable, isFinishedImportTable, measureImport, registerImport } from '@terrane/database/imports'
import { swapIn } from '@terrane/database/staging'
import { OVERTURE_TYPES } from '@terrane/overture'
import { Loading, type OvertureSettings } from './overture/loading.ts'
import { nameOf, requestedTypes, tablesOf } from './overture/targets.ts'
import { explained } from './file-import/describe-import.ts'
import { emptyTables } from './empty-tables.ts'
import { SCHEMA, checkNames } from './import-names.ts'
import type { JobContext, Task } from './task.ts'
import { acceptWarnings } from './warnings.ts'

const TERMS = 'https://docs.overturemaps.org/attribution/'
/** Imports the Overture features of an area into one table per type and geometry family. */
export function overtureImportArea(settings: OvertureSettings): Task {
  return {
    name: 'overtureImportArea',
    summary: 'Import Overture Maps data of an area',
    description:
      'Puts the Overture features that touch an area into tables `{tablePrefix}_{type}`: scalar columns, nested ones as ' +
      'jsonb, the GERS id as primary key and a geometry in EPSG:4326. Types that mix geometries get one table per family. ' +
      'The tables appear together or not at all.',
    body: OvertureImportArea,
    expireSeconds: 6 * 3600,
    version: 1,
    async checkSubmit(raw, { project }) {
      const input = raw as OvertureImportArea
      readAoi(input.aoiGeoJson, settings)
      const names = requestedTypes(input).flatMap((type) => tablesOf(type).map((table) => nameOf(input, table)))
      await checkNames(project.database, names, input.mode)
    },
    run: (raw, context) => runImport(raw as OvertureImportArea, settings, context),
  }
}

/** One table that was made, as the job's result shows it. */
interface TableResult {
  readonly schema: string
  readonly name: string
  readonly type: string
  readonly rows: number
  readonly geometry_type: string
  readonly srid: number
  readonly bbox: readonly number[] | null
}

/** Loads the tables, indexes them and swaps them in. */
async function runImport(
  input: OvertureImportArea,
  settings: OvertureSettings,
  context: JobContext,
): Promise<Readonly<Record<string, unknown>>> {
  const started = performance.now()
  const { run, project, signal } = context
  const { database } = project
  const { source, targets } = await new Loading(input, settings, context).run()
  const tables: TableResult[] = []
  for (const [i, { table, staged, shape }] of targets.entries()) {
    signal.throwIfAborted()
    const message = `indexing ${staged.table}`
    context.progress({ phase: 'indexes', done: i, total: targets.length, unit: 'tables', message })
    const { attribution, licence } = OVERTURE_TYPES[table.type]!
    const comment = `Overture Maps ${table.type} of ${input.areaName}, release ${String(source['release'])}. ${attribution}, ${licence}: ${TERMS}`
    if (!(await isFinishedImportTable(database, staged))) {
      await finishImportTable(database, staged, shape, comment)
    }
    const measured = await measureImport(database, staged)
    tables.push({
      schema: SCHEMA,
      name: staged.table,
      type: table.type,
      ...measured,
      geometry_type: table.geometryType,
      srid: 4326,
    })
  }
  const warnings = acceptWarnings(input.strict, emptyTables(tables))
  const attributions = [...new Set(targets.map(({ table }) => OVERTURE_TYPES[table.type]!.attribution))]
  const result = {
    tables,
    source,
    attribution: attributions.join('; '),
    seconds: Math.round((performance.now() - started) / 100) / 10,
    warnings,
  }
  const staged = targets.map((target) => target.staged)
  await swapIn(database, run, staged, result, async (session) => {
    for (const [i, { rows, bbox, type }] of tables.entries()) {
      const { attribution, licence } = OVERTURE_TYPES[type]!
      const record = { jobId: run.jobId, task: 'overtureImportArea', source, attribution, licence, rows, bbox }
      await registerImport(session, staged[i]!, record)
    }
  }).catch((cause: unknown) => {
    throw explained(cause, staged.map(({ table }) => table).join(', '))
  })
  return result
}
