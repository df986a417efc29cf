import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { ChildProcess } from 'node:child_process'
import { seededRandom } from '@terrane/core'
import { expect } from 'vitest'
import { fakeTask } from './fake-tasks.ts'
import { HEADERS, openWorker, type TestWorker } from './harness.ts'
import { Runners } from './runners.ts'

interface Options {
  /** Changes that are committed. */
  readonly changes: number
  readonly keys: number
  readonly kills: number
  /** Processes that deliver. */
  readonly workers: number
  readonly seed: number
}

/** Events of a receiver: the versions of each row, in the order of arrival. */
type Heard = Map<number, number[]>

const WRITERS = 4
/** A version that only transactions which are rolled back give. */
const UNDONE = 1_000_000

/**
 * Writes changes of rows while the processes that deliver them are killed, and compares the received events with the table. Each
 * change raises the version of its row, so that a row's versions are the order of its changes.
 */
export async function deliverUnderKills({
  changes,
  keys,
  kills,
  workers,
  seed,
}: Options): Promise<{ readonly repeated: number }> {
  const random = seededRandom(seed)
  const heard: Heard = new Map(Array.from({ length: keys }, (_, id) => [id, []]))
  let count = 0
  const receiver = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => {
      const { record } = JSON.parse(body) as { record: { id: number; v: number } }
      heard.get(record.id)!.push(record.v)
      // Events answered by an error, or not at all, are sent again.
      const luck = count++ % 50
      if (luck === 7) response.destroy()
      else response.writeHead(luck === 13 ? 503 : 204).end()
    })
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const env = { TERRANE_WORKER_CONCURRENCY: '0', TERRANE_FETCH_ALLOW_HOSTS: host }
  await using api = await openWorker({ tasks: [fakeTask()], env })
  using runners = new Runners(new URL('./runner-process.ts', import.meta.url), api.env)
  try {
    await makeTable(api, `http://${host}/`, keys)
    const start = (which: number) => runners.start(which)
    // A process that starts again does not hold up the next kill, which meets the other one.
    const deliverers: Promise<ChildProcess>[] = Array.from({ length: workers }, (_, which) => start(which))
    await Promise.all(deliverers)
    const written = write(api, { changes, keys, random })
    for (let kill = 1; kill <= kills; kill++) {
      await expect.poll(() => count >= (changes * kill) / (kills + 1), { timeout: 300_000, interval: 5 }).toBe(true)
      const which = kill % workers
      await runners.end(await deliverers[which]!, 'SIGKILL')
      deliverers[which] = start(which)
    }
    await written
    const left = () => api.db.database.query('select from terrane.events')
    await expect.poll(async () => (await left()).rowCount, { timeout: 600_000, interval: 200 }).toBe(0)
    for (const deliverer of deliverers) await runners.end(await deliverer, 'SIGTERM')
    await compare(api, heard)
    return { repeated: count - changes }
  } finally {
    receiver.closeAllConnections()
    receiver.close()
  }
}

async function makeTable({ app, db }: TestWorker, url: string, keys: number): Promise<void> {
  await db.database.query(`create table public.counters (id int primary key, v int not null);
    insert into counters select i, 0 from generate_series(0, ${keys - 1}) i`)
  const payload = { table: 'counters', url, attempts: 20 }
  const made = await app.inject({ method: 'POST', url: '/table-hooks', headers: HEADERS, payload })
  expect(made.statusCode).toBe(201)
}

interface Writing extends Pick<Options, 'changes' | 'keys'> {
  readonly random: () => number
}

/** Commits changes by several writers at once; every tenth transaction is rolled back. */
async function write({ db }: TestWorker, { changes, keys, random }: Writing): Promise<void> {
  let left = changes
  const writer = async () => {
    while (left > 0) {
      if (random() < 0.1) {
        const id = Math.floor(random() * keys)
        const undone = db.database.transaction(async (session) => {
          await session.query('update counters set v = v + $2 where id = $1', [id, UNDONE])
          throw new Error('undone')
        })
        await expect(undone).rejects.toThrow('undone')
        continue
      }
      // Several rows at once, in one order, so that writers do not wait for each other in a circle.
      const size = Math.min(left, 1 + Math.floor(random() * 5), keys)
      left -= size
      const first = Math.floor(random() * (keys - size + 1))
      await db.database.query(
        `with locked as (select id from counters where id >= $1 and id < $2 order by id for update)
         update counters c set v = v + 1 from locked where c.id = locked.id`,
        [first, first + size],
      )
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
}

/** Every version from 1 to the last was heard, and none after a later one. */
async function compare({ db }: TestWorker, heard: Heard): Promise<void> {
  const { rows } = await db.database.query<{ id: number; v: number }>('select id, v from counters')
  for (const { id, v } of rows) {
    const versions = heard.get(id)!
    expect([id, versions]).toEqual([id, versions.toSorted((a, b) => a - b)])
    expect([id, [...new Set(versions)]]).toEqual([id, Array.from({ length: v }, (_, i) => i + 1)])
  }
}
