import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { digestOf } from './build/archive.ts'
import type { Functions } from './functions.ts'
import type { InstanceFactory } from './pool/factory.ts'
import type { Instance } from './pool/instance.ts'
import type { Policy } from './policy.ts'
import { VersionStore } from './version-store.ts'

const archive = { code: Buffer.from('export default () => new Response()'), files: new Map() }
const digest = digestOf(archive)
const facts = { project: 'p', name: 'f', version: 1, policy: {} as Policy, env: {} }

/** No version is served once `free` is called. */
function unused() {
  const { promise, resolve: free } = Promise.withResolvers<void>()
  const functions = { whenUnused: () => promise, *[Symbol.iterator]() {} } as unknown as Functions
  return { functions, free }
}

async function makeStore(
  onLeft?: (path: string, error: unknown) => void,
  factory: Partial<InstanceFactory> = {},
): Promise<VersionStore> {
  const root = await mkdtemp(join(tmpdir(), 'terrane-versions-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  return new VersionStore(root, factory as InstanceFactory, onLeft)
}

test('a removal that fails is logged and rejects no call, because no call waits for it', async () => {
  const left: unknown[] = []
  const store = await makeStore((path, error) => left.push(path, error))
  const version = await store.add(archive, facts)
  const broken = { whenUnused: () => Promise.reject(new Error('the disk is gone')) } as unknown as Functions
  await store.discard(version, broken)
  expect(left).toEqual([dirname(version.cacheDir), new Error('the disk is gone')])
  expect(existsSync(version.codeDir)).toBe(true)
})

test('a version that is discarded while it is about to be served again stays', async () => {
  const store = await makeStore()
  const { functions, free } = unused()
  const version = await store.add(archive, facts)
  const discarded = store.discard(version, functions)
  await store.use(facts, digest, async () => {
    free()
    await discarded
    expect(existsSync(version.codeDir)).toBe(true)
  })
  await store.discard(version, functions)
  expect(existsSync(version.codeDir)).toBe(false)
})

test('a version that is going is waited for and unpacked anew', async () => {
  const store = await makeStore()
  const { functions, free } = unused()
  free()
  for (let round = 0; round < 20; round++) {
    const discarded = store.discard(await store.add(archive, facts), functions)
    await Promise.resolve()
    const again = await store.use(facts, digest, () => store.add(archive, facts))
    await discarded
    expect(existsSync(join(again.codeDir, 'index.mjs'))).toBe(true)
  }
})

test('what proved to be bad is removed, unless another user holds it', async () => {
  const store = await makeStore()
  const version = await store.add(archive, facts)
  await store.use(facts, digest, async () => {
    await store.use(facts, digest, () => store.reject(version))
    expect(existsSync(version.codeDir)).toBe(true)
    await store.reject(version)
    expect(existsSync(version.codeDir)).toBe(false)
  })
})

test('the folder of the code is named as the function, also where two functions have the same code', async () => {
  const store = await makeStore()
  const [one, two] = [await store.add(archive, facts), await store.add(archive, { ...facts, name: 'g' })]
  expect([one, two].map(({ codeDir }) => basename(codeDir))).toEqual(['f', 'g'])
  const { functions, free } = unused()
  free()
  await store.discard(one, functions)
  expect([one, two].map(({ codeDir }) => existsSync(codeDir))).toEqual([false, true])
})

const instance = { ready: Promise.resolve(), crons: ['a: * * * * *'], kill() {}, exited: Promise.resolve() }

test.each([
  ['once with the compiled code of the shim', true, 1],
  ['twice without it, because new databases are complete after the second start', false, 2],
])('a version is started %s before it is sealed', async (_, isComplete, starts) => {
  const start = vi.fn<InstanceFactory['start']>(async () => instance as unknown as Instance)
  const makeCache = async (cacheDir: string) => {
    await mkdir(cacheDir)
    return isComplete
  }
  await using store = await makeStore(undefined, { start, makeCache })
  const version = await store.add(archive, facts)
  expect(await store.prove(version)).toEqual(instance.crons)
  expect(start).toHaveBeenCalledTimes(starts)
  expect(await store.find(digest, facts)).toMatchObject({ sealed: true })
})

test('a cache that is read-only but not marked as complete is made and sealed anew', async () => {
  let made = 0
  const makeCache = async (cacheDir: string) => {
    await mkdir(join(cacheDir, `of run ${++made}`), { recursive: true })
    return true
  }
  await using store = await makeStore(undefined, { start: async () => instance as unknown as Instance, makeCache })
  const version = await store.add(archive, facts)
  await store.prove(version)
  await rm(join(dirname(version.cacheDir), 'sealed'))
  await store.prove(version)
  expect(await readdir(version.cacheDir)).toEqual(['of run 2'])
  expect((await stat(version.cacheDir)).mode & 0o777).toBe(0o555)
})
