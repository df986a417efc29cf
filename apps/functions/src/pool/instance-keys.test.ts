import { expect, onTestFinished, test, vi } from 'vitest'
import type { FunctionVersion } from '../function-version.ts'
import { issueKeys } from './instance-keys.ts'

const version = { project: 'p', name: 'f' } as FunctionVersion

test('an instance gets the address and the anon key that its project has when it starts', async () => {
  let project = { ref: 'p', publicUrl: 'https://old.example', anonKey: 'old', publicKeys: async () => [] }
  const issue = issueKeys(
    () => project,
    () => {},
  )
  const seen = async () => {
    const { env } = await issue(version)
    return [env['SUPABASE_URL'], env['PROJECT_URL'], env['SUPABASE_ANON_KEY']]
  }
  expect(await seen()).toEqual(['https://old.example', 'https://old.example', 'old'])
  project = { ...project, publicUrl: 'https://new.example', anonKey: 'new' }
  expect(await seen()).toEqual(['https://new.example', 'https://new.example', 'new'])
})

test('an instance starts without the public keys when their host does not answer soon', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const project = { ref: 'p', publicUrl: '', anonKey: null, publicKeys: () => new Promise<never>(() => {}) }
  const failures: unknown[] = []
  const issued = issueKeys(
    () => project,
    (_, error) => failures.push(error),
  )(version)
  await vi.advanceTimersByTimeAsync(1000)
  const { env, serviceToken } = await issued
  expect([env['SUPABASE_JWKS'], env['SERVICE_ROLE_KEY']]).toEqual([undefined, serviceToken])
  expect(failures).toMatchObject([{ message: expect.stringContaining('not answered') as string }])
})
