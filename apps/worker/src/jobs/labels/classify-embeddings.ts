import type { JobWarning } from '@terrane/contracts'
import { ClassifyEmbeddings } from '@terrane/contracts/labels'
import type { StoredClassifier, VectorTable } from '@terrane/database/classifiers'
import { conditionOfSources, sourceVersions } from '@terrane/database/vector-pages'
import { Stopwatch } from '../embeddings/stopwatch.ts'
import { SCHEMA } from '../import-names.ts'
import type { JobContext, Task } from '../task.ts'
import { acceptWarnings } from '../warnings.ts'
import { checkOutput, readRecord, type ClassSource } from './class-record.ts'
import { ClassTable, type ClassChange, type ClassCounts, type Measured, type TableDescription } from './class-table.ts'
import { notClassTable } from './errors.ts'
import { chosenRows, headOf, readersOf, requireClassifier, requireVectorTable } from './run-input.ts'

/** Makes the task that assigns classes to rows of an embeddings table. */
export function classifyEmbeddings(): Task {
  return {
    name: 'classifyEmbeddings',
    summary: 'A map of classes from embeddings',
    description:
      'Gives each row of an embeddings table the class that a classifier finds, and its probability: a table public.{tableName} with ' +
      'id, class, probability and geom. With mode update only rows of sources that are new or changed are classified; on a schedule the ' +
      'map follows its table.',
    body: ClassifyEmbeddings,
    expireSeconds: 6 * 3600,
    version: 1,
    async checkSubmit(raw, { project: { database } }) {
      const body = raw as ClassifyEmbeddings
      await requireVectorTable(database, body.table)
      await requireClassifier(database, body, body.table)
      await chosenRows(database, body.table, body)
      await checkOutput(database, body)
    },
    run: (raw, context) => run(raw as ClassifyEmbeddings, context),
  }
}

async function run(body: ClassifyEmbeddings, context: JobContext) {
  const { database } = context.project
  const watch = new Stopwatch()
  const table = await requireVectorTable(database, body.table)
  const classifier = await requireClassifier(database, body, body.table)
  await checkOutput(database, body)
  const { since, until, sourceNumbers } = body
  const source: ClassSource = {
    embeddings: body.table,
    classifier: classifier.name,
    version: classifier.version,
    classifierJob: classifier.jobId,
    embeddingsJob: table.jobId,
    chosen: { since, until, sourceNumbers },
    sources: await sourceVersions(database, body.table),
  }
  const change = body.mode === 'update' ? await changeOf(context, body.tableName, source) : null
  const { where: chosen, warnings: untimed } = await chosenRows(database, body.table, body)
  const where = change?.sources ? `${chosen} ${await conditionOfSources(database, change.sources)}` : chosen
  const head = await headOf(database, classifier)
  const output = await ClassTable.open(context, body.tableName, body.mode === 'replace')
  const filling = output.fill(table, head, classifier.classes, where)
  const counts = await watch.time('classify', filling)
  const warnings = acceptWarnings(body.strict, [...untimed, ...warningsOf(counts, change, classifier)])
  const about = descriptionOf('classifyEmbeddings', body, table, { source, isOpen: classifier.isPublic })
  const describe = (measured: Measured) => ({
    ...classResult(body.tableName, classifier.classes, { counts, measured, about }),
    classifier: classifier.name,
    version: classifier.version,
    timings: watch.seconds(),
    warnings,
  })
  return change === null
    ? await output.publish(about, describe, async () => ({ timings: watch.seconds() }))
    : await output.merge(about, change, describe)
}

/** Changes since a table of classes was written. @throws NOT_A_CLASS_TABLE */
async function changeOf(
  { project: { database } }: JobContext,
  tableName: string,
  now: ClassSource,
): Promise<ClassChange> {
  const record = await readRecord(database, tableName)
  if (record === null) throw notClassTable({ table: tableName, why: 'classifyEmbeddings has not made it' })
  const { source: then, jobId } = record
  for (const member of ['embeddings', 'classifier'] as const) {
    if (then[member] !== now[member]) {
      throw notClassTable({ table: tableName, why: `its ${member} is ${then[member]}, not ${now[member]}` })
    }
  }
  const isSame = then.classifierJob === now.classifierJob && JSON.stringify(then.chosen) === JSON.stringify(now.chosen)
  const numbers = new Set([...Object.keys(then.sources), ...Object.keys(now.sources)])
  // For a table without sources, another job of the embeddings table means that all rows may have changed.
  const isTold = Object.keys(now.sources).length > 0 || then.embeddingsJob === now.embeddingsJob
  if (!isSame || !isTold) return { jobId, sources: null }
  return { jobId, sources: [...numbers].filter((n) => then.sources[n] !== now.sources[n]).map(Number) }
}

function warningsOf(
  { classified, zeros }: ClassCounts,
  change: ClassChange | null,
  { head, settings }: StoredClassifier,
): JobWarning[] {
  if (classified === 0 && change === null) return [{ code: 'NOTHING_CLASSIFIED', message: 'No row of the table is chosen: the map is empty.', count: 0 }] // prettier-ignore
  const message =
    'The classifier is not calibrated, because no example could be held out: the probability does not say how often a class is right.'
  const isCalibrated = head === 'centroids' || settings['isCalibrated'] === true
  return [...zerosWarning(zeros), ...(isCalibrated ? [] : [{ code: 'NOT_CALIBRATED', message }])]
}

/** Rows whose vectors have no direction get no class. */
export function zerosWarning(zeros: number): JobWarning[] {
  const message = 'Rows whose vectors are zero have no class.'
  return zeros > 0 ? [{ code: 'VECTORS_ZERO', message, count: zeros }] : []
}

/** Record of a table of classes, and its readers. */
export function descriptionOf(
  task: TableDescription['task'],
  body: Pick<ClassifyEmbeddings, 'table' | 'ownerUuid' | 'isPublic'>,
  table: VectorTable,
  { source, isOpen }: { readonly source: ClassSource; readonly isOpen: boolean },
): TableDescription {
  return {
    task,
    source,
    attribution: table.attribution ?? '',
    licence: table.licence ?? '',
    readers: readersOf(body, table, isOpen),
    namesReaders: body.ownerUuid !== undefined || body.isPublic !== undefined,
  }
}

/** The part of a result about the table. */
export function classResult(
  tableName: string,
  names: readonly string[],
  { counts, measured, about }: { counts: ClassCounts; measured: Measured; about: TableDescription },
) {
  return {
    table: `${SCHEMA}.${tableName}`,
    rows: measured.rows,
    classified: counts.classified,
    removed: measured.removed,
    bbox: measured.bbox,
    attribution: about.attribution,
    classes: names.map((name, c) => {
      const { rows, probability } = counts.byClass[c]!
      return { name, rows, mean_probability: probability === null ? null : Math.round(probability * 1e4) / 1e4 }
    }),
  }
}
