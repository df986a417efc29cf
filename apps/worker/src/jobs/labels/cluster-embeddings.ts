import type { JobWarning } from '@terrane/contracts'
import { ClusterEmbeddings } from '@terrane/contracts/labels'
import { saveClassifier, type VectorTable } from '@terrane/database/classifiers'
import { countRows, sourceVersions, vectorPages } from '@terrane/database/vector-pages'
import { headBytes, openHeadThread } from '@terrane/embeddings/heads'
import { Stopwatch } from '../embeddings/stopwatch.ts'
import type { JobContext, Task } from '../task.ts'
import { acceptWarnings } from '../warnings.ts'
import { checkOutput, type ClassSource } from './class-record.ts'
import { ClassTable, type ClassCounts, type Measured } from './class-table.ts'
import { classResult, descriptionOf, zerosWarning } from './classify-embeddings.ts'
import { tooFewRows } from './errors.ts'
import { chosenRows, ownerOf, prepare, requireVectorTable } from './run-input.ts'
import { checkOwner } from './train-classifier.ts'

/** Maximum numbers in the vectors from which centres are computed: 128 MiB. */
const MAX_NUMBERS = 2 ** 25

/** Makes the task that clusters rows of an embeddings table. */
export function clusterEmbeddings(): Task {
  return {
    name: 'clusterEmbeddings',
    summary: 'A map of clusters from embeddings',
    description:
      'Groups the rows of an embeddings table that look alike by k-means, and writes a table public.{tableName} with id, class, probability ' +
      '(null) and geom. The centres are kept as a classifier, which classifyEmbeddings applies to other tables.',
    body: ClusterEmbeddings,
    expireSeconds: 6 * 3600,
    version: 1,
    async checkSubmit(raw, { project: { database } }) {
      const body = raw as ClusterEmbeddings
      const table = await requireVectorTable(database, body.table)
      await chosenRows(database, body.table, body)
      await checkOutput(database, body)
      await checkOwner(database, { classifier: nameOf(body) }, ownerOf(body, table))
    },
    run: (raw, context) => run(raw as ClusterEmbeddings, context),
  }
}

function nameOf({ classifier, tableName }: ClusterEmbeddings): string {
  return classifier ?? tableName
}

async function run(body: ClusterEmbeddings, context: JobContext) {
  const { database } = context.project
  const watch = new Stopwatch()
  const table = await requireVectorTable(database, body.table)
  await checkOutput(database, body)
  const { where, warnings: untimed } = await chosenRows(database, body.table, body)
  const chosen = await countRows(database, body.table, where)
  const vectors = await watch.time('vectors', sampleVectors(context, table, { where, rows: chosen }))
  const rows = vectors.length / table.dims
  if (rows < body.clusters) throw tooFewRows({ rows, clusters: body.clusters })
  const { seed = 1, clusters: k } = body
  context.progress({ phase: 'cluster', message: 'finding the clusters', done: 0, total: null, unit: '' })
  await using thread = openHeadThread(context.signal)
  const fitting = thread.call('cluster', { vectors, dims: table.dims, k, seed }, [vectors.buffer as ArrayBuffer])
  const { head, inertia, rounds } = await watch.time('cluster', fitting)
  const names = Array.from({ length: k }, (_, c) => `cluster ${c + 1}`)
  const output = await ClassTable.open(context, body.tableName, body.mode === 'replace')
  const counts = await watch.time('classify', output.fill(table, head, names, where))
  const warnings = acceptWarnings(body.strict, [...untimed, ...warningsOf(counts, chosen > mostRows(table), rows)])
  const { since, until, sourceNumbers } = body
  const source: ClassSource = {
    embeddings: body.table,
    classifier: nameOf(body),
    version: 0,
    classifierJob: context.run.jobId,
    embeddingsJob: table.jobId,
    chosen: { since, until, sourceNumbers },
    sources: await sourceVersions(database, body.table),
  }
  const about = descriptionOf('clusterEmbeddings', body, table, { source, isOpen: true })
  const describe = (measured: Measured) => ({
    ...classResult(body.tableName, names, { counts, measured, about }),
    classifier: nameOf(body),
    version: 0,
    inertia,
    timings: watch.seconds(),
    warnings,
  })
  return await output.publish(about, describe, async (session) => {
    await session.query('lock table geoembeddings.classifiers in share row exclusive mode')
    const { owner, isPublic } = about.readers
    await checkOwner(session, { classifier: nameOf(body) }, owner)
    const record = {
      name: nameOf(body),
      owner,
      isPublic,
      head: 'centroids' as const,
      classes: names,
      tableName: body.table,
      identity: table.identity,
      settings: { seed, rounds, inertia },
      validation: null,
      examples: rows,
      attribution: table.attribution,
    }
    const kept = { jobId: context.run.jobId, weights: headBytes(head) }
    return { version: await saveClassifier(session, record, kept), timings: watch.seconds() }
  })
}

function warningsOf({ classified, zeros }: ClassCounts, isSampled: boolean, rows: number): JobWarning[] {
  const message = 'The clusters were found with an even part of the rows, and then given to all; these were not in it.'
  const count = classified - zeros - rows
  return [...zerosWarning(zeros), ...(isSampled && count > 0 ? [{ code: 'ROWS_SAMPLED', message, count }] : [])]
}

/** Maximum rows from which centres are computed. */
function mostRows({ dims }: VectorTable): number {
  return Math.floor(MAX_NUMBERS / dims)
}

/** The non-zero vectors of the chosen rows, or of an even sample where they are too many. */
async function sampleVectors(
  { project, signal }: JobContext,
  table: VectorTable,
  { where, rows }: { readonly where: string; readonly rows: number },
): Promise<Float32Array> {
  const parts = Math.ceil(rows / mostRows(table))
  const part = parts > 1 ? ` and hashint8extended(t.id, 0) % ${parts} = 0` : ''
  const found: Float32Array[] = []
  const pages = vectorPages(project.database, table, { where: where + part, withPlaces: false, pageBytes: 2 ** 24 })
  for await (const { vectors } of pages) {
    signal.throwIfAborted()
    const zeros = prepare(vectors, table)
    let to = 0
    for (let i = 0; i < vectors.length / table.dims; i++) {
      if (zeros.has(i)) continue
      vectors.copyWithin(to, i * table.dims, (i + 1) * table.dims)
      to += table.dims
    }
    found.push(vectors.subarray(0, to))
  }
  const all = new Float32Array(found.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const vectors of found) {
    all.set(vectors, at)
    at += vectors.length
  }
  return all
}
