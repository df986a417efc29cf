import { Type } from 'typebox'
import { expect, test } from 'vitest'
import { Secret, ServiceEnv, readEnv } from './config.ts'

const schema = Type.Object({
  ...ServiceEnv,
  PORT: Type.Integer({ default: 3333, minimum: 0, maximum: 65535, description: 'Port to listen on.' }),
  TERRANE_MODE: Type.Enum(['local', 'shared'], { default: 'local' }),
  TERRANE_FETCH_ALLOW_HTTP: Type.Boolean({ default: false }),
  TERRANE_SERVICE_ROLE_KEY: Secret('Key of the project.', 8),
  TERRANE_NOTE: Type.Optional(Type.String()),
})

test('defaults are filled in, texts are converted and the result is frozen', () => {
  const config = readEnv(schema, {
    PORT: '8080',
    TERRANE_FETCH_ALLOW_HTTP: 'true',
    TERRANE_SERVICE_ROLE_KEY: ' 12345678 ',
    HOST: '',
    PATH: '/bin',
  })
  expect(config).toEqual({
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    DRAIN_TIMEOUT_MS: 10_000,
    FAREWELL_MS: 500,
    PORT: 8080,
    TERRANE_MODE: 'local',
    TERRANE_FETCH_ALLOW_HTTP: true,
    TERRANE_SERVICE_ROLE_KEY: '12345678',
    TERRANE_METRICS_PORT: 0,
    TERRANE_RATE_PER_ADDRESS: 600_000,
    TERRANE_RATE_PER_KEY: 0,
    TERRANE_TRUSTED_PROXIES: '',
  })
  expect(Object.isFrozen(config)).toBe(true)
})

test('every problem is reported at once and no secret is shown', () => {
  const read = () =>
    readEnv(schema, { PORT: '99999', TERRANE_MODE: 'cloud', TERRANE_SERVICE_ROLE_KEY: 'hunter2', LOG_LEVEL: 'loud' })
  expect(read).toThrow(/PORT: '99999'[^]*TERRANE_MODE: 'cloud' is not acceptable: \(one of local, shared\)/)
  expect(read).toThrow(/LOG_LEVEL: 'loud'/)
  expect(read).toThrow(/TERRANE_SERVICE_ROLE_KEY: the value is not acceptable: Key of the project/)
  expect(read).not.toThrow('hunter2')
})

test('a missing required variable is named with its description', () => {
  expect(() => readEnv(schema, {})).toThrow('TERRANE_SERVICE_ROLE_KEY is not set: Key of the project.')
})
