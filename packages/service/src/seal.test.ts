import { expect, test } from 'vitest'
import { createSealer, readSecretsKey } from './seal.ts'

const SECRET = 'the-jwt-secret-of-the-tests-32-characters'

test('the key for sealing is the one that is set, in hex or base64', () => {
  const key = Buffer.alloc(32, 7)
  for (const text of [key.toString('hex'), key.toString('base64')])
    expect(readSecretsKey({ TERRANE_MODE: 'shared', TERRANE_SECRETS_KEY: text })).toEqual(key)
  expect(readSecretsKey({ TERRANE_MODE: 'local', TERRANE_SECRETS_KEY: 'short', TERRANE_JWT_SECRET: SECRET })).toBeNull()
})

test('without one it is made of another secret in local mode alone, and always the same', () => {
  const settings = { TERRANE_MODE: 'local', TERRANE_JWT_SECRET: SECRET, TERRANE_SERVICE_ROLE_KEY: 'another' }
  const key = readSecretsKey(settings)!
  expect(key).toHaveLength(32)
  expect(readSecretsKey({ TERRANE_MODE: 'local', TERRANE_SERVICE_ROLE_KEY: SECRET })).toEqual(key)
  const sealed = createSealer(key).seal('a value', 'a job')
  expect(createSealer(readSecretsKey(settings)!).open(sealed, 'a job')).toBe('a value')
  expect(readSecretsKey({ ...settings, TERRANE_MODE: 'shared' })).toBeNull()
  expect(readSecretsKey({ TERRANE_MODE: 'local' })).toBeNull()
})
