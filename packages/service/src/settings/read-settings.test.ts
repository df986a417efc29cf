import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Type } from 'typebox'
import { afterAll, expect, test } from 'vitest'
import { readSettings } from './read-settings.ts'
import { Setting } from './schema.ts'

const schema = {
  app: 'worker',
  variables: {
    PORT: Setting.Port(3333),
    TERRANE_MODE: Type.Enum(['local', 'shared'], { default: 'local' }),
    TERRANE_FETCH_ALLOW_HTTP: Type.Boolean({ default: false }),
    TERRANE_SERVICE_ROLE_KEY: Setting.Secret('Key of the project.', 8),
    TERRANE_NOTE: Type.Optional(Type.String()),
  },
  file: {
    maxCells: Setting.Count(100, 1, 'Maximum cells.', 'TERRANE_MAX_CELLS'),
    areas: Type.Object({
      schemas: Setting.Texts(['public'], 'Schemas that are open.', 'TERRANE_SCHEMAS'),
      note: Type.Optional(Type.String({ description: 'A note.' })),
    }),
  },
}
const KEY = { TERRANE_SERVICE_ROLE_KEY: ' 12345678 ' }
const EVERY_APP = {
  drainIdleMs: 500,
  rates: { perAddress: 600_000, perKey: 0 },
  keys: { cacheMs: 20_000, graceMs: 20_000 },
  jwtAudiences: ['authenticated'],
}

const folder = mkdtempSync(join(tmpdir(), 'settings-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileOf(content: unknown): string {
  const path = join(folder, 'settings.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

test('defaults are filled in, texts are converted and the result is frozen', () => {
  const config = readSettings(schema, {
    ...KEY,
    PORT: '8080',
    TERRANE_FETCH_ALLOW_HTTP: 'true',
    HOST: '',
    PATH: '/bin',
  })
  expect(config).toEqual({
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    DRAIN_TIMEOUT_MS: 10_000,
    PORT: 8080,
    TERRANE_MODE: 'local',
    TERRANE_FETCH_ALLOW_HTTP: true,
    TERRANE_SERVICE_ROLE_KEY: '12345678',
    TERRANE_METRICS_PORT: 0,
    TERRANE_TRUSTED_PROXIES: '',
    ...EVERY_APP,
    maxCells: 100,
    areas: { schemas: ['public'] },
  })
  expect(Object.isFrozen(config) && Object.isFrozen(config.areas)).toBe(true)
})

test('every problem is reported at once and no secret is shown', () => {
  const read = () =>
    readSettings(schema, {
      PORT: '99999',
      TERRANE_MODE: 'cloud',
      TERRANE_SERVICE_ROLE_KEY: 'hunter2',
      LOG_LEVEL: 'loud',
      TERRANE_SETTINGS: '{"worker":{"maxCells":0}}',
    })
  expect(read).toThrow(/PORT: '99999'[^]*TERRANE_MODE: 'cloud' is not acceptable: \(one of local, shared\)/)
  expect(read).toThrow(/LOG_LEVEL: 'loud'/)
  expect(read).toThrow(/TERRANE_SERVICE_ROLE_KEY: the value is not acceptable: Key of the project/)
  expect(read).toThrow("worker.maxCells in TERRANE_SETTINGS: '0' is not acceptable: Maximum cells. (integer ≥ 1)")
  expect(read).not.toThrow('hunter2')
})

test('a missing required variable is named with its description', () => {
  expect(() => readSettings(schema, {})).toThrow('TERRANE_SERVICE_ROLE_KEY is not set: Key of the project.')
})

test('an app reads its section of the file and the one of every app, and not those of other apps', () => {
  const path = fileOf({
    everyApp: { rates: { perKey: 7 } },
    worker: { maxCells: 5, areas: { note: 'x' } },
    router: { unknown: 1 },
  })
  expect(readSettings(schema, { ...KEY, TERRANE_SETTINGS: path })).toMatchObject({
    rates: { perAddress: 600_000, perKey: 7 },
    maxCells: 5,
    areas: { schemas: ['public'], note: 'x' },
  })
})

test('unknown sections and members of the file are refused with the known ones', () => {
  const TERRANE_SETTINGS = fileOf({ workers: {}, everyApp: { rate: {} }, worker: { areas: { maxCells: 5 } } })
  const read = () => readSettings(schema, { ...KEY, TERRANE_SETTINGS })
  expect(read).toThrow(
    `workers in ${TERRANE_SETTINGS} is not a section: use one of everyApp, worker, origin, functions, router, console`,
  )
  expect(read).toThrow(
    `everyApp.rate in ${TERRANE_SETTINGS} is not a setting: use one of drainIdleMs, rates, keys, jwtAudiences`,
  )
  expect(read).toThrow(`worker.areas.maxCells in ${TERRANE_SETTINGS} is not a setting: use one of schemas, note`)
})

test('members of the file have JSON types, which are not converted', () => {
  const TERRANE_SETTINGS = fileOf({ worker: { maxCells: '5', areas: [] }, everyApp: null })
  const read = () => readSettings(schema, { ...KEY, TERRANE_SETTINGS })
  expect(read).toThrow(`worker.maxCells in ${TERRANE_SETTINGS}: '5' is not acceptable`)
  expect(read).toThrow(`worker.areas in ${TERRANE_SETTINGS} is not an object`)
  expect(read).toThrow(`everyApp in ${TERRANE_SETTINGS} is not an object`)
})

test('a file that is missing or no JSON object is refused', () => {
  for (const [given, problem] of [
    [join(folder, 'none.json'), /TERRANE_SETTINGS: the settings file cannot be read: ENOENT.*none\.json/],
    [fileOf('{"worker":'), /the settings file cannot be read: .*JSON/],
    ['{"worker"', /the settings file cannot be read: .*JSON/],
  ] as const)
    expect(() => readSettings(schema, { ...KEY, TERRANE_SETTINGS: given })).toThrow(problem)
  expect(() => readSettings(schema, { ...KEY, TERRANE_SETTINGS: fileOf('[]') })).toThrow('it is not an object')
})

test('a former variable wins over the file and is named once, with what belongs into the file', () => {
  const told: unknown[] = []
  const config = readSettings(
    schema,
    {
      ...KEY,
      TERRANE_SETTINGS: '{"worker":{"maxCells":5}}',
      TERRANE_MAX_CELLS: '9',
      TERRANE_SCHEMAS: 'public, a',
      FAREWELL_MS: '20',
    },
    (renamed) => told.push(renamed),
  )
  expect(config).toMatchObject({ drainIdleMs: 20, maxCells: 9, areas: { schemas: ['public', 'a'] } })
  expect(told).toEqual([
    {
      variables: ['FAREWELL_MS', 'TERRANE_MAX_CELLS', 'TERRANE_SCHEMAS'],
      settings: { everyApp: { drainIdleMs: 20 }, worker: { maxCells: 9, areas: { schemas: ['public', 'a'] } } },
    },
  ])
  expect(() => readSettings(schema, { ...KEY, TERRANE_MAX_CELLS: 'many' })).toThrow(
    "TERRANE_MAX_CELLS: 'many' is not acceptable: Maximum cells. (integer ≥ 1)",
  )
})
