import { expect, test } from 'vitest'
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
