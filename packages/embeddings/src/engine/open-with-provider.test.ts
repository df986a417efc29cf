import type { InferenceSession } from 'onnxruntime-node'
import { expect, test } from 'vitest'

import { openWithProvider } from './open-with-provider.ts'
import type { Provider } from './providers.ts'

/** Of another system than this one. */
const FOREIGN = process.platform === 'win32' ? 'coreml' : 'dml'

function opener(absent: readonly string[]) {
  const tried: string[] = []
  const open = async ({ executionProviders }: { executionProviders: Provider[] }): Promise<InferenceSession> => {
    const first = executionProviders[0]!
    tried.push(executionProviders.join('+'))
    if (absent.includes(first)) throw new Error(`no ${first}`)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- never used
    return { first } as unknown as InferenceSession
  }
  return { tried, open }
}

test('the first provider that is there computes, and the CPU does what it lacks', async () => {
  const { tried, open } = opener(['webgpu'])
  const opened = await openWithProvider(['webgpu', 'cpu'], open)
  expect(opened).toMatchObject({ provider: 'cpu', refused: [{ provider: 'webgpu', why: 'no webgpu' }] })
  expect(tried).toEqual(['webgpu+cpu', 'cpu'])

  const there = opener([])
  expect(await openWithProvider(['webgpu'], there.open)).toMatchObject({ provider: 'webgpu', refused: [] })
  expect(there.tried).toEqual(['webgpu+cpu'])
})

test('what comes after the CPU is not tried, and no list means the CPU', async () => {
  for (const providers of [['cpu', 'webgpu'], []] as const) {
    const { tried, open } = opener([])
    expect(await openWithProvider(providers, open)).toMatchObject({ provider: 'cpu', refused: [] })
    expect(tried).toEqual(['cpu'])
  }
})

test('a provider that the runtime is built without is refused, not left out in silence', async () => {
  const { tried, open } = opener([])
  const { provider, refused } = await openWithProvider([FOREIGN], open)
  expect(provider).toBe('cpu')
  expect(refused).toEqual([{ provider: FOREIGN, why: expect.stringContaining(process.platform) as string }])
  expect(tried).toEqual(['cpu'])
})

test('a missing library of a device is named, because the runtime only says that one could not be loaded', async () => {
  const open = async ({ executionProviders }: { executionProviders: Provider[] }): Promise<InferenceSession> => {
    if (executionProviders[0] === 'cuda') throw new Error('…_Cuda: Failed to load shared library')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- never used
    return {} as unknown as InferenceSession
  }
  const { refused } = await openWithProvider(['cuda'], open)
  const why = process.platform === 'darwin' ? 'built without it' : 'libonnxruntime_providers_*.so'
  expect(refused).toEqual([{ provider: 'cuda', why: expect.stringContaining(why) as string }])
})

test('what the CPU cannot open is an error, whatever was refused before', async () => {
  const { open } = opener(['webgpu', 'cpu'])
  await expect(openWithProvider(['webgpu'], open)).rejects.toThrow('no cpu')
})
