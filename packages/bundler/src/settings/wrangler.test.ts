import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readWrangler } from './wrangler.ts'
import { fromSunday } from './wrangler-crons.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-wrangler-'))
})
afterEach(() => rm(folder, { recursive: true }))
const read = async (settings: unknown, name = 'wrangler.json') => {
  await writeFile(join(folder, name), typeof settings === 'string' ? settings : JSON.stringify(settings))
  return readWrangler(folder)!
}

test.each([
  ['0 3 * * 1', '0 3 * * 0'],
  ['0 3 * * 2-7', '0 3 * * 1-6'],
  ['0 3 * * 6#2', '0 3 * * 5#2'],
  ['0 3 * * 6L', '0 3 * * 5L'],
  ['0 3 * * FRI#2', '0 3 * * 5#2'],
  ['0 3 * * L', '0 3 * * 6'],
  ['0 3 * * 7-2', '0 3 * * 6,0,1'],
  ['0 3 * * FRI-MON', '0 3 * * 5,6,0,1'],
  ['0 3 * * 2/3', '0 3 * * 1,4'],
  ['*/5 * * * MON-FRI,1', '*/5 * * * MON-FRI,0'],
  ['0 3 L * *', '0 3 L * *'],
])('the days of the cron %s of a Worker are those of %s', (given, wanted) => {
  expect(fromSunday(given)).toBe(wanted)
})

test('a day that is none is refused', () => {
  expect(() => fromSunday('0 0 * * 8')).toThrow('has to be days')
})

test('crons keep their text for the Worker', async () => {
  const { bindings, schedule } = await read({ triggers: { crons: ['0 3 * * 1'] } })
  expect([schedule, bindings]).toEqual([['0 3 * * 0'], ['worker:crons={"0 3 * * 0":"0 3 * * 1"}']])
})

test('a namespace without a usable id is of the Worker alone, and the report says so', async () => {
  const { bindings, notes } = await read({ name: 'shop', kv_namespaces: [{ binding: 'CACHE', id: '<your id>' }] })
  expect(bindings).toContain('kv:CACHE=shop-CACHE')
  expect(notes).toEqual(['kv_namespaces: CACHE has no id, so its namespace is shop-CACHE'])
})

test('every setting that is not read is named, and every bound', async () => {
  const consumer = { queue: 'mail', max_batch_size: 100, max_retries: 100, dead_letter_queue: 'dead', retry_delay: 5 }
  const {
    unavailable,
    notes,
    consumer: read_,
  } = await read({
    define: { A: '1' },
    assets: './public',
    routes: ['x'],
    placement: { mode: 'smart' },
    compatibility_date: '2026-01-01',
    vars: { 'my-name': 'x' },
    queues: { consumers: [consumer] },
  })
  expect(unavailable.toSorted()).toEqual([
    'assets: ./public',
    'define',
    'queues.consumers.dead_letter_queue',
    'queues.consumers.retry_delay',
    'vars: my-name',
  ])
  expect(notes).toHaveLength(3)
  expect(notes[0]).toBe('routes: the address is that of the function')
  expect(read_).toEqual({ queue: 'mail', batch: 50, attempts: 20 })
})

test.each([
  [{ triggers: { crons: '0 0 * * *' } }, 'triggers.crons has to be a list of texts'],
  [{ kv_namespaces: { binding: 'A' } }, 'kv_namespaces has to be a list of tables'],
  [
    { queues: { consumers: [{ queue: 'a', max_retries: '3' }] } },
    'queues.consumers.max_retries has to be a whole number',
  ],
  [{ name: 1 }, 'name has to be a text'],
])('%j is refused', async (settings, message) => {
  await expect(read(settings)).rejects.toThrow(message)
})

test('a number that JSON has not is refused', async () => {
  await expect(read('[vars]\nA = nan\n', 'wrangler.toml')).rejects.toThrow('vars.A: JSON has no NaN')
})

test('wrangler.json comes first, and may begin with a byte order mark', async () => {
  await read('name = "toml"', 'wrangler.toml')
  await read({ name: 'jsonc' }, 'wrangler.jsonc')
  expect((await read('\uFEFF{"name":"json"}')).name).toBe('json')
})
