import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { Outbox, disposeOfDead, loadOf } from '../src/events/outbox.ts'

const MIB = 1 << 20
let db: TestDatabase
let outbox: Outbox
beforeAll(async () => {
  db = await openTestDatabase()
  outbox = new Outbox(db.database, 'one')
})
afterAll(() => db[Symbol.asyncDispose]())
beforeEach(() => sql('delete from terrane.events'))

const sql = (text: string) => db.database.query<Record<string, string>>(text)
const send = (count: number, { queue = 'a', body = 'to_jsonb(i)', rest = '' } = {}) =>
  sql(`select terrane.send('${queue}', ${body}${rest}) from generate_series(1, ${count}) i`)
const claim = (calls: number, batch: number, bytes = 16 * MIB, held: string[] = []) =>
  outbox.claim([{ name: 'queue:a', calls, batch }], bytes, held)
const lapse = () => sql(`update terrane.events set leased_until = clock_timestamp() - interval '1 s'`)
const numbers = (claimed: readonly { body: string }[]) => claimed.map(({ body }) => Number(body))

describe(`the outbox (${testLane()})`, { timeout: 30_000 }, () => {
  test('claims no more bytes than it may, and always the first event of a lane', async () => {
    await send(6, { body: `to_jsonb(repeat('x', 250000))` })
    await send(2, { queue: 'b', body: `to_jsonb(repeat('x', 250000))` })
    const lanes = ['queue:a', 'queue:b'].map((name) => ({ name, calls: 8, batch: 50 }))
    const claimed = await outbox.claim(lanes, MIB, [])
    expect(claimed.map(({ lane }) => lane)).toEqual([...Array<string>(4).fill('queue:a'), 'queue:b'])
    expect(await outbox.claim(lanes, 0, [])).toHaveLength(2)
  })

  test('claims of messages that failed as many as calls may begin', async () => {
    await send(12)
    const first = await claim(2, 5)
    expect(numbers(first)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    await outbox.settle(
      [],
      first.map(({ id }) => ({ id, most: 9, statusCode: 500, error: 'failed' })),
    )
    expect(numbers(await claim(2, 5))).toEqual([11, 12])
    await sql('update terrane.events set due_at = clock_timestamp() where leased_by is null')
    expect(numbers(await claim(2, 5))).toEqual([1, 2])
  })

  test('claims nothing that it holds, and gives nothing of that back', async () => {
    await send(3)
    const [held] = await claim(1, 1)
    await lapse()
    expect(numbers(await claim(1, 5, MIB, [held!.id]))).toEqual([2, 3])
    await outbox.release(['queue:a'], [held!.id])
    const { rows } = await sql('select body::text, attempts::text, leased_by from terrane.events order by id')
    expect(rows).toEqual([
      { body: '1', attempts: '1', leased_by: 'one' },
      { body: '2', attempts: '0', leased_by: null },
      { body: '3', attempts: '0', leased_by: null },
    ])
  })

  test('holds a key back behind its first event, be it late, under way or failed', async () => {
    await send(1, { body: `'0'`, rest: `, delay => '1 hour', key => 'late'` })
    await send(3, { rest: `, key => 'late'` })
    await send(2, { body: `to_jsonb(10 + i)`, rest: `, key => 'k'` })
    await send(1, { body: `'20'` })
    const claimed = await claim(8, 1)
    expect(numbers(claimed)).toEqual([11, 20])
    expect(await claim(8, 1)).toEqual([])
    await outbox.settle([], [{ id: claimed[0]!.id, most: 9, statusCode: null, error: 'failed' }])
    expect(await claim(8, 1)).toEqual([])
    await outbox.settle([claimed[0]!.id], [])
    await sql(`delete from terrane.events where body::text = '11'`)
    expect(numbers(await claim(8, 1))).toEqual([12])
  })

  test('sends dead letters again in their order', async () => {
    await send(40, { rest: `, key => 'k'` })
    // Rows lie in another order than their ids.
    await sql(`update terrane.events set dead_at = clock_timestamp(), attempts = 3 where id % 2 = 0`)
    await sql(`update terrane.events set dead_at = clock_timestamp(), attempts = 3 where id % 2 = 1`)
    expect(await disposeOfDead(db.database, 'resend', { lanes: ['queue:*'], ids: null })).toBe(40)
    const { rows } = await sql('select body::text from terrane.events where attempts = 0 order by id')
    expect(rows.map(({ body }) => Number(body))).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
  })

  test('keeps dead letters, and what has no consumer, for a month', async () => {
    for (const queue of ['a', 'b', 'c']) await send(2, { queue })
    const old = `clock_timestamp() - interval '31 days'`
    await sql(`update terrane.events set dead_at = case when body::text = '1' then ${old} else clock_timestamp() end where lane = 'queue:a';
      update terrane.events set due_at = ${old} where lane <> 'queue:a' and body::text = '1'`)
    await outbox.expire(['queue:b'])
    const { rows } = await sql(`select lane || body as left from terrane.events order by 1`)
    expect(rows.map(({ left }) => left)).toEqual(['queue:a2', 'queue:b1', 'queue:b2', 'queue:c2'])
    // All lanes are counted, and lateness is from when an event was due.
    const loads = await loadOf(db.database, null)
    expect(loads.map(({ lane, waiting, dead }) => [lane, waiting, dead])).toEqual([
      ['queue:a', 0, 1],
      ['queue:b', 2, 0],
      ['queue:c', 1, 0],
    ])
    expect(loads[1]!.oldest).toBeGreaterThan(30 * 86_400)
    await sql('delete from terrane.events')
    await send(1, { rest: `, delay => '1 hour'` })
    expect((await loadOf(db.database, null))[0]!.oldest).toBeLessThan(0)
  })
})
