// Settles events in the order of their keys: our outbox, and pg-boss alone with its queues of strict order by key and
// without order, in turns on one PostgreSQL. Both claim a batch and settle it; neither calls anything, so this compares
// the tables and not deliveries. pg-boss without order does less than the other two.
//   outbox.bench.ts [events, 1000] [keys, 200]; DATABASE_URL names the server
import assert from 'node:assert/strict'
import { openTestDatabase } from '@terrane/database/testing'
import { PgBoss } from 'pg-boss'
import { Outbox } from '../src/events/outbox.ts'

const [EVENTS = 1000, KEYS = 200] = process.argv.slice(2).map(Number)
const ROUNDS = 5
const BATCH = 50
const BYTES = 16 * 1024 * 1024

if (!process.env['DATABASE_URL']) {
  console.log('SKIPPED: the bench needs a PostgreSQL at DATABASE_URL')
  process.exit()
}
await using db = await openTestDatabase()
const outbox = new Outbox(db.database, 'bench')
const boss = new PgBoss({ connectionString: db.url, schema: 'boss', supervise: false, schedule: false })
await boss.start()

const key = (i: number) => `key-${i % KEYS}`
const send = `select terrane.send('bench', to_jsonb(i), key => 'key-' || i % ${KEYS}) from generate_series(1, ${EVENTS}) i`
async function fill(queue: string): Promise<void> {
  await boss.insert(
    queue,
    Array.from({ length: EVENTS }, (_, i) => ({ data: { i }, singletonKey: key(i) })),
  )
}
async function settleBoss(queue: string): Promise<number> {
  const jobs = await boss.fetch(queue, { batchSize: BATCH })
  if (jobs.length > 0)
    await boss.complete(
      queue,
      jobs.map(({ id }) => id),
    )
  return jobs.length
}
async function settleOutbox(): Promise<number> {
  const claimed = await outbox.claim([{ name: 'queue:bench', calls: BATCH, batch: 1 }], BYTES, [])
  await outbox.settle(
    claimed.map(({ id }) => id),
    [],
  )
  return claimed.length
}

const sides = [
  {
    name: 'outbox, in order of keys',
    fill: () => db.database.query(send),
    settle: settleOutbox,
    rates: [] as number[],
  },
  ...(['key_strict_fifo', 'standard'] as const).map((policy) => ({
    name: `pg-boss, ${policy}`,
    fill: () => fill(policy),
    settle: () => settleBoss(policy),
    rates: [] as number[],
  })),
]
for (const policy of ['key_strict_fifo', 'standard'] as const) await boss.createQueue(policy, { policy })
for (let round = 0; round < ROUNDS; round++)
  for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
    await side.fill()
    const begun = performance.now()
    let settled = 0
    while (settled < EVENTS) settled += await side.settle()
    assert.equal(settled, EVENTS)
    side.rates.push((EVENTS * 1000) / (performance.now() - begun))
  }
console.log(`${EVENTS} events of ${KEYS} keys, ${ROUNDS} rounds in turns, batches of ${BATCH}`)
for (const { name, rates } of sides) {
  const sorted = rates.toSorted((a, b) => a - b)
  console.log(
    `  ${name.padEnd(26)} ${sorted[ROUNDS >> 1]!.toFixed(0)} events/s (${sorted[0]!.toFixed(0)} to ${sorted.at(-1)!.toFixed(0)})`,
  )
}
await boss.stop({ graceful: false })
