import { expect, test } from 'vitest'
import { environmentOf, isSecretName } from './environment.ts'
import { parsePolicy } from './policy.ts'

const host = {
  PROJECT_URL: 'http://project.internal',
  SUPABASE_URL: 'http://project.internal',
  ANON_KEY: 'a',
  SUPABASE_ANON_KEY: 'a',
}
const secrets = { project: { A: '1', B: '2' }, own: { B: '3', C: '4' } }
const env = (policy: object) => environmentOf({ anonKey: 'a', databaseUrl: null }, parsePolicy(policy), secrets)

test('a function sees the secrets that its policy names, and all of its own', () => {
  expect(env({})).toEqual({ ...host, A: '1', B: '3', C: '4' })
  expect(env({ secrets: [] })).toEqual({ ...host, B: '3', C: '4' })
  expect(env({ secrets: ['A'] })).toEqual({ ...host, A: '1', B: '3', C: '4' })
})

test('the address of the database is there where the project has one for functions, and says no password', () => {
  const withDatabase = { anonKey: null, databaseUrl: 'postgres://admin:secret@db.example/postgres' }
  const { TERRANE_DB_URL, SUPABASE_DB_URL } = environmentOf(withDatabase, parsePolicy({}), secrets)
  expect(TERRANE_DB_URL).toBe('postgresql://function@project.internal:5432/postgres')
  expect(SUPABASE_DB_URL).toBe(TERRANE_DB_URL)
})

test('a secret that is named and not there is an error', () => {
  expect(() => env({ secrets: ['A', 'X', 'Y'] })).toThrow(/X, Y/)
})

test('privileged functions get words in the place of keys', () => {
  expect(env({ privileged: true })).toMatchObject({
    SERVICE_ROLE_KEY: 'service-role-key-added-by-the-host',
    SUPABASE_SERVICE_ROLE_KEY: 'service-role-key-added-by-the-host',
    SERVICES_KEY: 'services-key-added-by-the-host',
  })
})

test('no secret takes the place of what the host sets', () => {
  const stolen = { project: { SUPABASE_URL: 'http://evil', DENO_DIR: '/', NODE_OPTIONS: '--x', FINE: '1' }, own: {} }
  expect(environmentOf({ anonKey: null, databaseUrl: null }, parsePolicy({}), stolen)).toEqual({
    PROJECT_URL: host.PROJECT_URL,
    SUPABASE_URL: host.SUPABASE_URL,
    FINE: '1',
  })
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
