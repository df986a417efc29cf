import { expect, test } from 'vitest'
import { workerBase } from './worker-base.ts'

const LOCAL = 'http://127.0.0.1:4000/'
const SHARED = 'https://pool.example.org/worker'
const SERVICES = 'https://services.example.org/'

test('the local override comes before the shared pool’s, and takes the service-role key', () => {
  const settings = {
    CONSOLE_WORKER_BASE_LOCAL: LOCAL,
    CONSOLE_WORKER_BASE_SHARED: SHARED,
    TERRANE_MODE: 'shared',
  } as const
  expect(workerBase(settings)).toEqual({ url: 'http://127.0.0.1:4000', pool: 'local' })
})

test('the shared pool’s override comes before the environment', () => {
  for (const mode of ['local', 'shared'] as const) {
    const settings = { CONSOLE_WORKER_BASE_SHARED: SHARED, TERRANE_SERVICES_URL: SERVICES, TERRANE_MODE: mode }
    expect(workerBase(settings)).toEqual({ url: SHARED, pool: 'shared' })
  }
})

test('the environment is the local worker in local mode, else the shared pool', () => {
  expect(workerBase({ TERRANE_MODE: 'local', TERRANE_SERVICES_URL: SERVICES })).toEqual({
    url: 'http://127.0.0.1:3333',
    pool: 'local',
  })
  expect(workerBase({ TERRANE_MODE: 'shared', TERRANE_SERVICES_URL: SERVICES })).toEqual({
    url: 'https://services.example.org/worker',
    pool: 'shared',
  })
  expect(workerBase({ TERRANE_MODE: 'shared' })).toBeNull()
})
