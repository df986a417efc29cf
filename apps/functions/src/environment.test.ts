import { expect, test } from 'vitest'
import { isSecretName } from './bindings.ts'
import { addressesOf, environmentOf, ignoredNames } from './environment.ts'
import { parsePolicy } from './policy.ts'

const project = { databaseUrl: null }
const secrets = { project: { A: '1', B: '2' }, own: { B: '3', C: '4' } }
const env = (policy: object) => environmentOf(project, parsePolicy(policy), secrets)

test('a function sees the secrets that its policy names, and all of its own', () => {
  expect(env({})).toEqual({ A: '1', B: '3', C: '4' })
  expect(env({ secrets: [] })).toEqual({ B: '3', C: '4' })
  expect(env({ secrets: ['A'] })).toEqual({ A: '1', B: '3', C: '4' })
})

test('the address and the key of the project have the names of this host and of Supabase', () => {
  const addresses = {
    PROJECT_URL: 'https://p.example',
    SUPABASE_URL: 'https://p.example',
    SUPABASE_JWKS_URL: 'https://p.example/auth/v1/.well-known/jwks.json',
  }
  const publicUrl = 'https://p.example/'
  expect(addressesOf({ anonKey: null, publicUrl })).toEqual(addresses)
  expect(addressesOf({ anonKey: 'a', publicUrl })).toEqual({
    ...addresses,
    ANON_KEY: 'a',
    SUPABASE_ANON_KEY: 'a',
    SUPABASE_PUBLISHABLE_KEY: 'a',
    SUPABASE_PUBLISHABLE_KEYS: '{"default":"a"}',
  })
})

test('the address of the database is there where the project has one for functions, and says no password', () => {
  const withDatabase = { databaseUrl: 'postgres://admin:secret@db.example/postgres' }
  const { TERRANE_DB_URL, SUPABASE_DB_URL } = environmentOf(withDatabase, parsePolicy({}), secrets)
  expect(TERRANE_DB_URL).toBe('postgresql://function@project.internal:5432/postgres')
  expect(SUPABASE_DB_URL).toBe(TERRANE_DB_URL)
})

test('a secret that is named and not there is an error', () => {
  expect(() => env({ secrets: ['A', 'X', 'Y'] })).toThrow(/X, Y/)
})

test('privileged functions get a word in the place of the key of the shared services', () => {
  expect(env({ privileged: true })).toMatchObject({ SERVICES_KEY: 'services-key-added-by-the-host' })
})

test('the names that a function is not given are known', () => {
  expect(ignoredNames({ SUPABASE_URL: 'http://x', FINE: '1' }, { TERRANE_X: '', FINE: '2' })).toEqual([
    'SUPABASE_URL',
    'TERRANE_X',
  ])
})

test('no secret takes the place of what the host sets', () => {
  const stolen = { project: { SUPABASE_URL: 'http://evil', DENO_DIR: '/', NODE_OPTIONS: '--x', FINE: '1' }, own: {} }
  expect(environmentOf(project, parsePolicy({}), stolen)).toEqual({ FINE: '1' })
  expect(environmentOf(null, parsePolicy({}), stolen)).toEqual({ FINE: '1' })
})

test.each([
  ['STRIPE_KEY', true],
  ['_x9', true],
  ['9x', false],
  ['a-b', false],
  ['', false],
  ['SUPABASE_ANY', false],
  ['TERRANE_ANY', false],
  ['DENO_ANY', false],
])('%s as the name of a secret: %s', (name, allowed) => {
  expect(isSecretName(name)).toBe(allowed)
})
