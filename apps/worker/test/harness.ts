import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import type { Http } from '@terrane/service'
import { buildApp } from '../src/app.ts'
import { readConfig, type WorkerConfig } from '../src/config.ts'
import { openDeps, type Deps } from '../src/deps.ts'
import type { Task } from '../src/jobs/task.ts'

export const KEY = 'the-service-role-key-of-the-tests'
/** The operator's. */
export const METRICS_KEY = 'the-key-of-the-operator'
export const HEADERS = { apikey: KEY, authorization: `Bearer ${KEY}` }

/** A worker on a database and a folder of the test's own. */
export interface TestWorker extends AsyncDisposable {
  readonly app: Http
  readonly deps: Deps
  readonly db: TestDatabase
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

export interface WorkerSetup {
  readonly env?: Readonly<Record<string, string>>
  readonly tasks?: readonly Task[]
  readonly checkpointMs?: number
  /** Share the database and folder of another worker. */
  readonly beside?: TestWorker
}

export async function openWorker(setup: WorkerSetup = {}): Promise<TestWorker> {
  const db = setup.beside?.db ?? (await openTestDatabase())
  const folder = setup.beside?.folder ?? (await mkdtemp(join(tmpdir(), 'terrane-worker-')))
  const env = {
    DATABASE_URL: db.url,
    LOG_LEVEL: 'silent',
    TERRANE_PROJECT_REF: 'demo',
    TERRANE_SERVICE_ROLE_KEY: KEY,
    TERRANE_METRICS_KEY: METRICS_KEY,
    TERRANE_STORAGE: `file:${join(folder, 'storage')}`,
    TERRANE_WORK_DIR: join(folder, 'work'),
    TERRANE_MODEL_DIR: join(folder, 'models'),
    TERRANE_CACHE_DIR: join(folder, 'cache'),
    TERRANE_DATA_ROOTS: join(folder, 'data'),
    ...setup.env,
  }
  const config: WorkerConfig = readConfig(env)
  const { tasks, checkpointMs } = setup
  const deps = await openDeps(config, { ...(tasks && { tasks }), ...(checkpointMs !== undefined && { checkpointMs }) })
  const app = await buildApp(deps)
  await app.ready()
  return {
    app,
    deps,
    db,
    folder,
    env,
    [Symbol.asyncDispose]: async () => {
      await deps.drain(10_000)
      await app.close()
      await deps[Symbol.asyncDispose]()
      if (setup.beside) return
      await db[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export interface JobRecord {
  readonly id: string
  readonly job_id: string
  readonly status: string
  readonly terminal: boolean
  readonly input: Record<string, unknown>
  readonly progress: { percent: number | null; phase: string; done: number; total: number | null } | null
  readonly result: Record<string, unknown> | null
  readonly error: { code: string; message: string; hint: string | null; retryable: boolean } | null
  readonly attempt: number
  readonly cancel_requested: boolean
  readonly created_at: string
  readonly started_at: string | null
  readonly finished_at: string | null
  readonly links: { self: string; events: string }
}

/** Submits a job and returns its record; the status code must be the one given. */
export async function submit(
  worker: TestWorker,
  task: string,
  payload: object,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await worker.app.inject({
    method: 'POST',
    url: `/jobs/${task}`,
    headers: { ...HEADERS, ...headers },
    payload,
  })
  return {
    status: response.statusCode,
    body: response.json<JobRecord & { code: string; message: string }>(),
    headers: response.headers,
  }
}

export async function read(worker: TestWorker, path: string, headers: Readonly<Record<string, string>> = HEADERS) {
  const response = await worker.app.inject({ url: path, headers })
  return {
    status: response.statusCode,
    body: response.json<JobRecord & { code: string; data: JobRecord[]; next_cursor: string | null }>(),
  }
}

/** Lets attempts of the worker's jobs follow each other without a delay. */
export async function retryAtOnce({ db }: TestWorker): Promise<void> {
  await db.database.query('update pgboss.queue set retry_delay = 0, retry_backoff = false')
}

/** Longest wait between two looks at a job, in milliseconds. */
const MOST_WAIT_MS = 250

/** Reads a job until a condition holds: when its run ends in this process, and now and then. */
export async function until(
  worker: TestWorker,
  self: string,
  condition: (job: JobRecord) => boolean = (job) => job.terminal,
  timeoutMs = 100_000,
): Promise<JobRecord> {
  const deadline = Date.now() + timeoutMs
  for (let waitMs = 50; ; waitMs = Math.min(waitMs * 1.5, MOST_WAIT_MS)) {
    const { body } = await read(worker, self)
    if (condition(body)) return body
    if (Date.now() > deadline) throw new Error(`the job did not get there: ${JSON.stringify(body)}`)
    await nextChange(worker, body.id, waitMs)
  }
}

/** Resolves when a run of the job ends in this process, at the latest after `waitMs`. */
async function nextChange({ deps }: TestWorker, id: string, waitMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, waitMs)
  const stop = deps.events.watch(id, 0, () => resolve())
  await promise
  clearTimeout(timer)
  stop()
}
