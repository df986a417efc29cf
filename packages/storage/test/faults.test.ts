import { awsAt, startEmulators, startFaultProxy, type Emulator, type FaultProxy } from '@terrane/testing/s3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore, type ObjectStore } from '../src/index.ts'
import { S3Bucket } from '../src/s3/s3-bucket.ts'

// Every call and every fault: test/long/faults.long.test.ts.
/** For faults that say so; a busy machine is none. */
const BOUNDS = { connectMs: 30_000, idleMs: 30_000, totalMs: 60_000, attempts: 3 }
/** For a storage that says nothing. */
const IMPATIENT = { connectMs: 1000, idleMs: 300, totalMs: 3000, attempts: 3 }
const AT = { bucket: 'bucket', region: 'us-east-1', credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' } }
const RULES = { public: false, fileSizeLimit: null, allowedMimeTypes: null }

let emulators: Emulator[]
let proxy: FaultProxy
let store: ObjectStore
beforeAll(async () => {
  emulators = await startEmulators()
  proxy = await startFaultProxy(emulators.find(({ name }) => name === 'fauxqs')!.port)
  store = openStore('s3://bucket/p', awsAt(proxy.port), BOUNDS)
  await store.createBucket('b', RULES)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  for (const emulator of emulators) await emulator[Symbol.asyncDispose]()
})

async function* megabytes(count: number) {
  for (let i = 0; i < count; i++) yield Buffer.alloc(1 << 20, i)
}
const whole = async (key: string) => Buffer.concat(await Array.fromAsync((await store.get('b', key)).body))

test('a storage that says nothing, or half of it, is a storage that cannot be reached', async () => {
  const impatient = openStore('s3://bucket/p', awsAt(proxy.port), IMPATIENT)
  for (const fault of ['hang', 'stall'] as const) {
    proxy.fail(fault)
    await expect(impatient.getBucket('b')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE', retryable: true })
    await expect(impatient.ready()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
    proxy.heal()
  }
  await store.ready()
})

test('one reset or 503 is tried again', async () => {
  for (const fault of ['reset', '503'] as const) {
    proxy.fail(fault, 1)
    expect(await store.getBucket('b')).toMatchObject({ id: 'b' })
    proxy.heal()
  }
})

test('an upload that is cancelled ends with the reason and leaves nothing', async () => {
  const reason = new Error('cancelled')
  const controller = new AbortController()
  async function* endless() {
    for (let i = 0; ; i++) {
      if (i === 20) controller.abort(reason)
      yield Buffer.alloc(1 << 20, i)
    }
  }
  await expect(store.withSignal(controller.signal).put('b', 'cancelled', endless())).rejects.toBe(reason)
  expect(await store.head('b', 'cancelled')).toBeNull()
})

test('an upload whose last answer is lost is there, and is not taken for another upload’s', async () => {
  async function* thenLose(count: number) {
    yield* megabytes(count)
    proxy.fail('lost answer', 1)
  }
  for (const count of [1, 20]) {
    await store.put('b', `lost-${count}`, thenLose(count))
    proxy.heal()
    expect((await whole(`lost-${count}`)).length).toBe(count << 20)
  }
})

test('an object that is read through lost connections is whole', async () => {
  await store.put('b', 'k', megabytes(20))
  const { body } = await store.get('b', 'k')
  const parts: Uint8Array[] = []
  for await (const chunk of body) {
    if (parts.length % 40 === 3) proxy.heal()
    parts.push(chunk)
  }
  expect(Buffer.concat(parts).equals(Buffer.concat(await Array.fromAsync(megabytes(20))))).toBe(true)
})

test('a page of many keys is one request of S3, and every page after it another', async () => {
  const s3 = new S3Bucket({ ...AT, endpoint: `http://127.0.0.1:${proxy.port}`, bounds: BOUNDS })
  for (let i = 0; i < 25; i++) await s3.writeJson(`many/${String(i).padStart(2, '0')}`, i)
  const sizes = async (options: object) =>
    (await Array.fromAsync(s3.pages('many/', options))).map(({ length }) => length)
  expect(await sizes({})).toEqual([25])
  expect(await sizes({ size: 10 })).toEqual([10, 10, 5])
  expect(await sizes({ size: 10, after: 'many/19' })).toEqual([5])
  for await (const page of s3.pages('many/', { size: 10 })) {
    expect(page.map(({ key }) => key).at(-1)).toBe('many/09')
    break
  }
})
