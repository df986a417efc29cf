// Waits: for the time limits of a storage that does not answer.
import { createServer } from 'node:net'
import { awsAt, startEmulators, startFaultProxy, type Emulator, type Fault, type FaultProxy } from '@terrane/testing/s3'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openStore, type ObjectStore } from '../../src/index.ts'

const RULES = { public: false, fileSizeLimit: null, allowedMimeTypes: null }
const BOUNDS = { connectMs: 1000, idleMs: 300, totalMs: 3000, attempts: 3 }
/** Timeout of calls without faults: a busy machine may need longer for a part than the timeout of faulty calls. */
const PATIENT = { ...BOUNDS, idleMs: 5000, totalMs: 30_000 }
const OLD = 'old '.repeat(50_000)
const NEW = 'new '.repeat(60_000)

async function* once(text: string) {
  yield Buffer.from(text)
}
async function* large() {
  for (let i = 0; i < 18; i++) yield Buffer.alloc(1 << 20, i)
}
async function read(store: ObjectStore, key: string) {
  const { body } = await store.get('b', key)
  return Buffer.concat(await Array.fromAsync(body)).toString()
}

/** Every call of a store, and its result when it succeeded. */
const CALLS: Readonly<Record<string, (store: ObjectStore) => Promise<unknown>>> = {
  ready: (store) => store.ready(),
  getBucket: (store) => store.getBucket('b'),
  createBucket: (store) => store.createBucket('c', RULES),
  listBuckets: (store) => store.listBuckets(),
  updateBucket: (store) => store.updateBucket('b', { public: false }),
  deleteBucket: (store) => store.deleteBucket('empty'),
  put: (store) => store.put('b', 'k', once(NEW), { upsert: true }),
  'put of parts': (store) => store.put('b', 'k', large(), { upsert: true }),
  head: (store) => store.head('b', 'k'),
  get: (store) => read(store, 'k'),
  list: (store) => Array.fromAsync(store.list('b', '')),
  describe: async (store) => {
    const at = new Date()
    return store.describe('b', [{ bucket: 'b', key: 'k', size: 1, etag: '', createdAt: at, updatedAt: at }])
  },
  copy: (store) => store.copy({ bucket: 'b', key: 'k' }, { bucket: 'b', key: 'l' }, { upsert: true }),
  move: (store) => store.move({ bucket: 'b', key: 'm' }, { bucket: 'b', key: 'n' }, { upsert: true }),
  remove: (store) => store.remove('b', ['r']),
}

let emulators: Emulator[] = []
const proxies: FaultProxy[] = []
beforeAll(async () => {
  emulators = await startEmulators()
  for (const { port } of emulators) proxies.push(await startFaultProxy(port))
})
afterAll(async () => {
  for (const proxy of proxies) await proxy[Symbol.asyncDispose]()
  for (const emulator of emulators) await emulator[Symbol.asyncDispose]()
})

describe.each(['s3rver', 'fauxqs'])('%s behind faults', (name) => {
  let proxy: FaultProxy
  let store: ObjectStore
  let patient: ObjectStore
  beforeEach(async () => {
    const index = emulators.findIndex((emulator) => emulator.name === name)
    proxy = proxies[index]!
    proxy.heal()
    const url = `s3://bucket/${crypto.randomUUID()}`
    store = openStore(url, awsAt(proxy.port), BOUNDS)
    patient = openStore(url, awsAt(proxy.port), PATIENT)
    for (const bucket of ['b', 'empty']) await patient.createBucket(bucket, RULES)
    for (const key of ['k', 'm', 'r']) await patient.put('b', key, once(OLD))
  })

  test.each(Object.entries(CALLS))(
    '%s ends in words while the storage is away, and works when it is back',
    async (call, run) => {
      for (const fault of ['hang', 'reset', '503', 'stall', 'cut'] as const) {
        proxy.fail(fault)
        await expect(run(store), `${call}, ${fault}`).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
      }
      proxy.heal()
      // An unfinished upload does not exist.
      expect(await read(patient, 'k')).toBe(OLD)
      // A request whose answer is lost may have done its work.
      if (await patient.getBucket('c')) await patient.deleteBucket('c')
      await run(patient)
    },
  )

  test.each(Object.entries(CALLS))('%s goes on after one fault', async (call, run) => {
    // A retry of another client does not repeat what is done already.
    for (const fault of ['reset', '503', 'cut', 'drip', 'hang'] satisfies Fault[]) {
      proxy.fail(fault, 1)
      await expect(run(call === 'put of parts' ? patient : store), `${call}, ${fault}`).resolves.not.toBe(Error)
      proxy.heal()
      for (const key of ['m', 'r']) await patient.put('b', key, once(OLD), { upsert: true })
      if (!(await patient.getBucket('empty'))) await patient.createBucket('empty', RULES)
      if (await patient.getBucket('c')) await patient.deleteBucket('c')
    }
  })

  test('a cancel ends a call that hangs with its reason', async () => {
    for (const [call, run] of Object.entries(CALLS)) {
      const controller = new AbortController()
      const reason = new Error('cancelled')
      const waiting = openStore('s3://bucket/p', awsAt(proxy.port), { ...BOUNDS, idleMs: 600_000, totalMs: 600_000 })
      proxy.fail('hang')
      const running = run(waiting.withSignal(controller.signal))
      setImmediate(() => controller.abort(reason))
      await expect(running, call).rejects.toBe(reason)
      proxy.heal()
    }
  })

  test('an object that is read through lost connections is whole', async () => {
    await patient.put('b', 'k', large(), { upsert: true })
    const { body } = await store.get('b', 'k')
    const parts: Uint8Array[] = []
    for await (const chunk of body) {
      if (parts.length % 20 === 3) proxy.heal()
      parts.push(chunk)
    }
    expect(Buffer.concat(parts).equals(Buffer.concat(await Array.fromAsync(large())))).toBe(true)
  })
})

test('a closed port is a storage that cannot be reached', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  const store = openStore('s3://bucket/p', awsAt(port), BOUNDS)
  await expect(store.ready()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
})
