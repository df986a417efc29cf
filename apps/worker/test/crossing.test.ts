import { text } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import { Keys, Organizations, Projects } from '@terrane/control'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { createSealer, parseSecretsKey } from '@terrane/service'
import type { ArtifactStore } from '@terrane/storage'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JobContext, Task } from '../src/jobs/task.ts'
import { openWorker, type JobRecord, type TestWorker } from './harness.ts'

const SECRETS_KEY = 'ab'.repeat(32)
const TASK = 'createGeoEmbeddings'
/** Everything has this name: reference, bucket, object, table, idempotency keys, labels. */
const SAME = 'same'
const JOBS = 13

const Body = Type.Object({
  label: Type.String(),
  mark: Type.String(),
  projectTarget: Type.Object({ projectRef: Type.String(), databaseUrl: Type.Optional(Type.String()) }),
})

/** Leaves its mark wherever a job can leave one, and tells what marks were there before. */
const leaveMark: Task = {
  name: TASK,
  summary: 'Fake',
  description: 'Fake',
  body: Body,
  expireSeconds: 3600,
  version: 1,
  checkSubmit: () => Promise.resolve(),
  async run(raw, { project: { store, database } }: JobContext) {
    const { mark } = raw as { mark: string }
    const object = await readMark(store)
    await store.put(SAME, `${SAME}.txt`, Readable.from([Buffer.from(mark)]), { upsert: true })
    await database.query(`create table if not exists public.${SAME} (mark text)`)
    const { rows } = await database.query<{ mark: string }>(`select mark from public.${SAME}`)
    await database.query(`insert into public.${SAME} values ($1)`, [mark])
    return { mark, object, marks: [...new Set(rows.map((row) => row.mark))] }
  },
}

async function readMark(store: ArtifactStore): Promise<string | null> {
  if (!(await store.getBucket(SAME)))
    await store.createBucket(SAME, { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  if (!(await store.head(SAME, `${SAME}.txt`))) return null
  const { body } = await store.get(SAME, `${SAME}.txt`)
  return text(body)
}

interface Tenant {
  readonly mark: string
  readonly headers: Readonly<Record<string, string>>
  readonly databaseUrl: string
  readonly jobs: JobRecord[]
}

let base: TestWorker
let other: TestDatabase
beforeAll(async () => {
  other = await openTestDatabase()
  // It has the database and runs nothing.
  base = await openWorker({ tasks: [leaveMark], env: { TERRANE_WORKER_CONCURRENCY: '0' } })
})
afterAll(async () => {
  await base[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
})

describe.each([
  ['registered projects', false],
  ['references that are not registered', true],
])(`two organizations with equal names for everything, ${testLane()}, %s`, (_, unregistered) => {
  let worker: TestWorker
  const tenants: Tenant[] = []
  let attempts = 0
  const crossings: string[] = []

  beforeAll(async () => {
    worker = await openWorker({
      tasks: [leaveMark],
      beside: base,
      env: {
        TERRANE_MODE: 'shared',
        TERRANE_SECRETS_KEY: SECRETS_KEY,
        TERRANE_ALLOW_PROJECT_TARGET: String(unregistered),
        TERRANE_FETCH_ALLOW_HOSTS: new URL(other.url).hostname,
        TERRANE_WORKER_CONCURRENCY: '4',
      },
    })
    const { database } = worker.db
    const sealer = createSealer(parseSecretsKey(SECRETS_KEY)!)
    for (const [mark, databaseUrl] of [
      ['of the first', worker.db.url],
      ['of the second', other.url],
    ] as const) {
      const { id: organizationId } = await new Organizations(database).create(SAME)
      const { key } = await new Keys(database, sealer).issue({ organizationId, role: 'services', label: SAME })
      if (!unregistered)
        await new Projects(database, sealer).create({
          organizationId,
          ref: SAME,
          name: SAME,
          credentials: { databaseUrl },
        })
      tenants.push({ mark, databaseUrl, headers: { apikey: key, authorization: `Bearer ${key}` }, jobs: [] })
    }
  })
  afterAll(async () => {
    await worker[Symbol.asyncDispose]()
  })

  const ask = (tenant: Tenant, method: 'GET' | 'DELETE', path: string) =>
    worker.app.inject({ method, url: `/jobs/${TASK}${path}?projectRef=${SAME}`, headers: tenant.headers })
  const submit = (tenant: Tenant, key: string) =>
    worker.app.inject({
      method: 'POST',
      url: `/jobs/${TASK}`,
      headers: { ...tenant.headers, 'idempotency-key': key },
      payload: {
        label: SAME,
        mark: tenant.mark,
        projectTarget: { projectRef: SAME, ...(unregistered && { databaseUrl: tenant.databaseUrl }) },
      },
    })
  /** One look for the other's mark or id where it must not be. */
  const look = (what: string, crossed: boolean) => {
    attempts++
    if (crossed) crossings.push(what)
  }
  const pairs = () =>
    [
      [tenants[0]!, tenants[1]!],
      [tenants[1]!, tenants[0]!],
    ] as const

  test('jobs with equal idempotency keys are jobs of their own, and see objects and tables of their own', async () => {
    for (let n = 0; n < JOBS; n++) {
      for (const tenant of tenants) {
        const response = await submit(tenant, `${SAME}-${n}`)
        expect(response.statusCode).toBe(202)
        tenant.jobs.push(response.json<JobRecord>())
      }
    }
    for (const [mine, theirs] of pairs()) {
      for (const [n, job] of mine.jobs.entries()) {
        look(
          `idempotency key ${n}`,
          theirs.jobs.some(({ id }) => id === job.id),
        )
        const ended = async () => (await ask(mine, 'GET', `/${job.id}`)).json<JobRecord>()
        await expect.poll(async () => (await ended()).terminal).toBe(true)
        const { status, result } = await ended()
        expect(status).toBe('success')
        const { object, marks } = result as { object: string | null; marks: string[] }
        look(`object seen by job ${n}`, object !== null && object !== mine.mark)
        look(
          `table seen by job ${n}`,
          marks.some((mark) => mark !== mine.mark),
        )
        const again = (await submit(mine, `${SAME}-${n}`)).json<JobRecord>()
        look(`replay ${n}`, again.id !== job.id)
      }
    }
  })

  test('no route gives a job of the other one away, or lets it be touched', async () => {
    for (const [mine, theirs] of pairs()) {
      const list = (await ask(mine, 'GET', '')).json<{ data: JobRecord[] }>().data
      expect(list.length).toBe(JOBS)
      const latest = (await ask(mine, 'GET', '/latest')).body
      const capacity = await worker.app.inject({ url: `/capacity?projectRef=${SAME}`, headers: mine.headers })
      const metrics = await worker.app.inject({ url: '/metrics', headers: mine.headers })
      for (const { id } of theirs.jobs) {
        look(
          `list shows ${id}`,
          list.some((job) => job.id === id),
        )
        look(`latest is ${id}`, latest.includes(id))
        look(`capacity tells of ${id}`, capacity.body.includes(id))
        look(`metrics tell of ${id}`, metrics.body.includes(id) || metrics.body.includes(theirs.mark))
        for (const [method, path] of [
          ['GET', `/${id}`],
          ['GET', `/${id}/events`],
          ['DELETE', `/${id}`],
        ] as const) {
          const { statusCode, body } = await ask(mine, method, path)
          look(`${method} ${path}`, statusCode !== 404 || body.includes(theirs.mark))
        }
        const { cancel_requested: cancelled } = (await ask(theirs, 'GET', `/${id}`)).json<JobRecord>()
        look(`cancel reached ${id}`, cancelled)
      }
    }
  })

  test('after all of it: none of 300 looks and more found anything of the other one', () => {
    process.stdout.write(`${attempts} looks for what is the other one’s, ${crossings.length} crossings\n`)
    expect(crossings).toEqual([])
    expect(attempts).toBeGreaterThanOrEqual(300)
  })
})
