import type { JobWarning } from '@terrane/contracts'
import { TrainClassifier } from '@terrane/contracts/labels'
import type { Thread } from '@terrane/core/threads'
import type { Database } from '@terrane/database'
import { classifierOwner, isOpenTable, saveClassifier, type VectorTable } from '@terrane/database/classifiers'
import { EMBEDDINGS_SCHEMA } from '@terrane/database/geoembeddings'
import { swapIn } from '@terrane/database/staging'
import {
  headBytes,
  openHeadThread,
  type FitOptions,
  type HeadMethods,
  type Validation,
} from '@terrane/embeddings/heads'
import { Stopwatch } from '../embeddings/stopwatch.ts'
import { requireReadable } from '../open-schemas.ts'
import type { JobContext, Task } from '../task.ts'
import { acceptWarnings } from '../warnings.ts'
import { classifierTaken, examplesNeeded } from './errors.ts'
import { loadExamples, type ExampleSet } from './example-set.ts'
import { checkFeatures, tableSource } from './example-sources.ts'
import { findExamples } from './examples.ts'
import { chosenRows, ownerOf, readersOf, requireVectorTable, type Readers } from './run-input.ts'

const FOLDS = 5

export interface LabelsOptions {
  /** Schemas besides `public` and `geoembeddings` whose tables may be read. */
  readonly openSchemas: readonly string[]
}

/** Makes the task that trains a classifier from examples. */
export function trainClassifier({ openSchemas }: LabelsOptions): Task {
  return {
    name: 'trainClassifier',
    summary: 'Classes of embeddings from examples',
    description:
      'Learns classes of the rows of an embeddings table from examples: points, lines or polygons of a table or of GeoJSON, or ids of rows. ' +
      'Holds out blocks on the ground to say how well each class is found and to calibrate probabilities. Keeps the classifier in versions; ' +
      'classifyEmbeddings applies it.',
    body: TrainClassifier,
    expireSeconds: 3600,
    version: 1,
    async checkSubmit(raw, { project: { database } }) {
      const body = raw as TrainClassifier
      if (!body.examples && !body.features && !body.ids) throw examplesNeeded()
      if (body.features) checkFeatures(body.features)
      const table = await requireVectorTable(database, body.table)
      await chosenRows(database, body.table, body)
      checkReadable(body, openSchemas)
      if (body.examples) await tableSource(database, body.examples)
      await checkOwner(database, body, ownerOf(body, table))
    },
    async run(raw, context) {
      const body = raw as TrainClassifier
      checkReadable(body, openSchemas)
      return await train(body, context)
    },
  }
}

/** @throws SCHEMA_NOT_ALLOWED */
function checkReadable({ examples }: TrainClassifier, openSchemas: readonly string[]): void {
  if (examples) requireReadable(examples.schema ?? 'public', openSchemas)
}

function fitOptions({ head = 'logistic', penalty = 0.1, neighbours = 5 }: TrainClassifier): FitOptions {
  return { kind: head, penalty, neighbours }
}

/** Only the owner of a classifier may add versions to it. @throws CLASSIFIER_EXISTS for another owner */
export async function checkOwner(
  database: Pick<Database, 'query'>,
  { classifier }: { readonly classifier: string },
  owner: string | null,
): Promise<void> {
  const there = await classifierOwner(database, classifier)
  if (there !== undefined && there?.toLowerCase() !== owner?.toLowerCase()) throw classifierTaken({ classifier })
}

async function train(body: TrainClassifier, context: JobContext) {
  const { signal, project, run } = context
  const { database } = project
  const watch = new Stopwatch()
  const step = (phase: string, message: string) => context.progress({ phase, message, done: 0, total: null, unit: '' })
  const table = await requireVectorTable(database, body.table)
  step('examples', 'finding the rows of the examples')
  const { where, warnings: untimed } = await chosenRows(database, body.table, body)
  const examples = await watch.time('examples', findExamples(database, body, where))
  const set = await watch.time('vectors', loadExamples(database, table, examples, body.head ?? 'logistic'))
  const options = fitOptions(body)
  step('validate', 'holding out blocks')
  await using thread = openHeadThread(signal)
  const judged = await watch.time('validate', judge(thread, set, options, body.blockMeters))
  step('fit', 'learning from all examples')
  const { head, isConverged } = await watch.time('fit', thread.call('fit', { data: set.data, options }))
  const { names, counts } = set
  const found = [...untimed, ...set.warnings, ...judged.warnings, ...unfinished(isConverged)]
  const warnings = acceptWarnings(body.strict, found)
  const { validation } = judged
  const temperature = validation?.temperature ?? 1
  const { owner, isPublic } = await readersOfExamples(database, body, table)
  const described = validation && describe(validation, judged)
  const classes = names.map((name, c) => ({ name, examples: counts[c]!, ...scoreOf(validation, c) }))
  const result = {
    classifier: body.classifier,
    version: 0,
    head: options.kind,
    table: `${EMBEDDINGS_SCHEMA}.${body.table}`,
    examples: set.data.labels.length,
    classes,
    validation: described,
    timings: {},
    warnings,
  }
  signal.throwIfAborted()
  await swapIn(database.withSignal(new AbortController().signal), run, [], result, async (session) => {
    await session.query('lock table geoembeddings.classifiers in share row exclusive mode')
    await checkOwner(session, body, owner)
    const record = {
      name: body.classifier,
      owner,
      isPublic,
      head: options.kind,
      classes: names,
      tableName: body.table,
      identity: table.identity,
      settings: { ...options, temperature, isCalibrated: validation !== null },
      validation: described && { ...described, classes },
      examples: set.data.labels.length,
      attribution: table.attribution,
    }
    result.version = await saveClassifier(session, record, { jobId: run.jobId, weights: headBytes(head) })
    result.timings = watch.seconds()
  })
  return result
}

/** A classifier reveals the values of its examples, so anon may read it only if anon may read their table. */
async function readersOfExamples(database: Database, body: TrainClassifier, table: VectorTable): Promise<Readers> {
  const { examples } = body
  const isOpen = !examples || (await isOpenTable(database, examples.schema ?? 'public', examples.table))
  return readersOf(body, table, isOpen)
}

function unfinished(isConverged: boolean): JobWarning[] {
  const message = 'The fit was ended before it came to rest: classes may be worse than they could be. A larger penalty comes to rest sooner.' // prettier-ignore
  return isConverged ? [] : [{ code: 'NOT_CONVERGED', message }]
}

interface Judgement {
  readonly validation: Validation | null
  readonly blockMeters: number
  readonly reachMeters: number
  readonly warnings: readonly JobWarning[]
}

async function judge(
  thread: Thread<HeadMethods>,
  { data, places, reachMeters, names, counts }: ExampleSet,
  options: FitOptions,
  asked: number | undefined,
): Promise<Judgement> {
  const blockMeters = asked ?? 4 * reachMeters
  const holdOut = { blockMeters, reachMeters, folds: FOLDS }
  const validation = await thread.call('validate', { data, places, holdOut, options })
  if (validation === null) {
    const message = 'The examples lie too close to each other to hold any out: quality is not known, and probabilities are not calibrated.' // prettier-ignore
    return { validation, blockMeters, reachMeters, warnings: [{ code: 'NOT_VALIDATED', message }] }
  }
  const unjudged = names.filter((_, c) => counts[c]! > 1 && validation.classes[c]!.examples === 0)
  const message = 'Classes whose examples are all in one place cannot be validated: their quality is not known.' // prettier-ignore
  const warnings = unjudged.length > 0 ? [{ code: 'CLASSES_NOT_VALIDATED', message, count: unjudged.length, examples: unjudged.slice(0, 10) }] : [] // prettier-ignore
  return { validation, blockMeters, reachMeters, warnings }
}

function scoreOf(validation: Validation | null, c: number) {
  const found = validation?.classes[c]
  if (!found || found.examples === 0) return { precision: null, recall: null, f1: null }
  return { precision: rounded(found.precision), recall: rounded(found.recall), f1: rounded(found.f1) }
}

function describe(validation: Validation, { blockMeters, reachMeters }: Judgement) {
  return {
    examples: validation.examples,
    folds: validation.folds,
    block_meters: Math.round(blockMeters * 10) / 10,
    gap_meters: Math.round(reachMeters * 10) / 10,
    accuracy: rounded(validation.accuracy),
    macro_f1: rounded(validation.macroF1),
    confusion: validation.confusion.map((row) => [...row]),
    calibration_error: rounded(validation.calibrationError),
  }
}

function rounded(share: number): number {
  return Math.round(share * 1e4) / 1e4
}
