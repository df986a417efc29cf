import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { FunctionVersion } from '../function-version.ts'
import { parsePolicy } from '../policy.ts'
import type { LiveRecord } from '../registry/registry.ts'
import { RegistrySource, type RegistrySourceOptions } from './registry-source.ts'

const POLL_MS = 5000
let records: LiveRecord[]
let served: string | undefined
let failures: number
let source: RegistrySource

const record = (etag: string) =>
  ({ project: 'p', name: 'f', etag, digest: etag, version: 1, policy: parsePolicy({}) }) as unknown as LiveRecord

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  records = [record('one')]
  served = undefined
  failures = 0
  const live = () => (served === undefined ? undefined : { version: { codeDir: served } })
  const parts = {
    registry: {
      database: { listen: () => Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() }) },
      allLive: () => Promise.resolve(records),
      secrets: () => Promise.resolve({}),
    },
    archives: {},
    projects: { get: () => undefined },
    functions: {
      get: live,
      install: ({ codeDir }: FunctionVersion) => Promise.resolve(void (served = codeDir)),
      fail: () => {},
    },
    store: {
      use: (_project: string, _digest: string, work: () => Promise<unknown>) => work(),
      find: (digest: string) => Promise.resolve({ codeDir: digest }),
      prepare: (version: unknown) => (failures-- > 0 ? Promise.reject(new Error('not now')) : Promise.resolve(version)),
      discard: () => Promise.resolve(),
    },
    ceilings: {},
    isTaken: () => false,
    onFailed: () => {},
    onLost: (error: unknown) => expect.unreachable(String(error)),
    pollMs: POLL_MS,
  }
  source = new RegistrySource(parts as unknown as RegistrySourceOptions)
  await source.open()
})
afterEach(async () => {
  await source[Symbol.asyncDispose]()
  vi.useRealTimers()
})

test('a version that could not be loaded is tried again, though nothing changes and the former one is served', async () => {
  await source.find('p', 'f')
  expect(served).toBe('one')
  records = [record('two')]
  failures = 1
  await source.follow('p', 'f')
  expect(served).toBe('one')
  for (let poll = 0; poll < 2; poll++) await vi.advanceTimersByTimeAsync(POLL_MS)
  await expect.poll(() => served).toBe('two')
})

test('a version of before a field was known is loaded with the default of the field', async () => {
  const { bindings: _, ...policy } = parsePolicy({})
  records = [{ ...record('old'), policy } as unknown as LiveRecord]
  await source.follow('p', 'f')
  expect(served).toBe('old')
})
