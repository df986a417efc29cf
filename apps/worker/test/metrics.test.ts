import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testLane } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fakeTask } from './fake-tasks.ts'
import { METRICS_KEY, openWorker, submit, until, type TestWorker } from './harness.ts'

const TASK = 'createGeoEmbeddings'
let worker: TestWorker
beforeAll(async () => {
  worker = await openWorker({ tasks: [fakeTask()] })
})
afterAll(() => worker[Symbol.asyncDispose]())

/** The value of a series; null if it does not exist. */
async function read(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | null> {
  const headers = { authorization: `Bearer ${METRICS_KEY}` }
  const { body } = await worker.app.inject({ url: '/metrics', headers })
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const line = body.split('\n').find((text) => {
    const [series = ''] = text.split(' ')
    return series.split('{')[0] === name && wanted.every((pair) => series.includes(pair))
  })
  return line === undefined ? null : Number(line.slice(line.lastIndexOf(' ') + 1))
}

async function run(tableName: string, more: object = {}) {
  const { body } = await submit(worker, TASK, { tableName, ...more })
  return until(worker, body.links.self)
}

describe(`metrics of a worker (${testLane()})`, () => {
  test('count the ends of jobs by success or code, with their waits and runs, and runs that were made again', async () => {
    // Prometheus sees no increase of a series that begins at 1.
    expect(await read('terrane_job_retries_total', { task: TASK, reason: 'lost' })).toBe(0)
    expect(await read('terrane_webhook_attempts_total', { outcome: 'failed' })).toBe(0)
    await run('made')
    await run('broken', { fault: 'input' })
    await run('again', { fault: 'upstream', faultyAttempts: 1 })
    expect(await read('terrane_job_ends_total', { task: TASK, code: 'success' })).toBe(2)
    expect(await read('terrane_job_ends_total', { task: TASK, code: 'BAD_INPUT' })).toBe(1)
    expect(await read('terrane_job_retries_total', { task: TASK, reason: 'retry' })).toBe(1)
    expect(await read('terrane_job_wait_seconds_count', { task: TASK })).toBe(3)
    expect(await read('terrane_job_run_seconds_count', { task: TASK })).toBe(3)
  })

  test('tell how late schedules are, and how old the last backup is once there is one', async () => {
    const { database } = worker.db
    expect(await read('terrane_schedules_late_seconds')).toBe(0)
    expect(await read('terrane_backup_age_seconds')).toBeNull()
    // A paused one is not late, whatever its time.
    await database.query(
      `insert into terrane.schedules (id, task, project_ref, name, cron, time_zone, input, sealed_input, next_at, paused)
       values (gen_random_uuid(), 'none', 'p', 'n', '* * * * *', 'UTC', '{}', '', clock_timestamp() - interval '1 day', true)`,
    )
    await database.query(`insert into terrane.backups (place, bytes, ended_at)
      values ('file', 1, clock_timestamp() - interval '9 days'), ('s3', 1, clock_timestamp() - interval '3 days')`)
    expect(await read('terrane_schedules_late_seconds')).toBe(0)
    const age = await read('terrane_backup_age_seconds', { place: 's3' })
    expect(age).toBeGreaterThanOrEqual(3 * 86_400)
    expect(age).toBeLessThan(4 * 86_400)
    await database.query('delete from terrane.schedules')
  })

  test('name the dependency that is down, and count the calls that it fails', async () => {
    expect(await read('terrane_ready', { check: 'storage' })).toBe(1)
    expect(await read('terrane_ready', { check: 'database' })).toBe(1)
    const storage = join(worker.folder, 'storage')
    await rm(storage, { recursive: true, force: true })
    await writeFile(storage, 'a file where the folder was')
    expect(await read('terrane_ready', { check: 'storage' })).toBe(0)
    expect(await read('terrane_ready', { check: 'database' })).toBe(1)
    expect(await read('terrane_storage_seconds_count', { operation: 'ready', outcome: 'failed' })).toBeGreaterThan(0)
    await rm(storage)
    expect(await read('terrane_ready', { check: 'storage' })).toBe(1)
  })

  test('show connections and disks', async () => {
    for (const state of ['used', 'idle', 'waiting'])
      expect(await read('terrane_database_connections', { state })).toBeGreaterThanOrEqual(0)
    const [free, size] = [await read('terrane_disk_free_bytes', { folder: 'work' }), await read('terrane_disk_size_bytes', { folder: 'work' })] // prettier-ignore
    expect(free).toBeGreaterThan(0)
    expect(size).toBeGreaterThanOrEqual(free!)
  })
})
