import { TerraneError } from '@terrane/core'
import { describe, expect, test } from 'vitest'
import { DEFAULT_CEILINGS, readPolicy } from './policy.ts'

const read = (given: unknown) => readPolicy(given, DEFAULT_CEILINGS)

test('an empty file is a policy of defaults', () => {
  expect(read({})).toEqual({
    auth: 'anon',
    methods: ['POST'],
    cors: ['*'],
    description: '',
    memory_mb: 256,
    tmp_mb: 32,
    block_ms: 2000,
    stream_body: false,
    websocket_ms: 400_000,
    timeout_ms: 30_000,
    idle_ms: 60_000,
    concurrency: 64,
    min: 0,
    max: 2,
    max_chain: 8,
    body_bytes: 6_291_456,
    response_bytes: 104_857_600,
    net: [],
    secrets: ['*'],
    privileged: false,
    schedule: [],
    tables: [],
    jobs: [],
    time_zone: 'UTC',
    queue: '',
    batch: 10,
    attempts: 15,
    bindings: [],
    static: [],
  })
  expect(read(undefined)).toEqual(read({}))
})

test('the operator’s ceilings clamp what a policy asks for', () => {
  const greedy = read({
    memory_mb: 100_000,
    timeout_ms: 1e9,
    websocket_ms: 1e9,
    concurrency: 1e6,
    max: 1000,
    min: 500,
    body_bytes: 1e12,
  })
  expect(greedy).toMatchObject({
    memory_mb: 480,
    timeout_ms: 400_000,
    websocket_ms: 400_000,
    concurrency: 256,
    max: 8,
    min: 2,
    body_bytes: 52_428_800,
  })
  expect(read({ min: 2, max: 1 })).toMatchObject({ min: 1, max: 1 })
})

test('a word that is not on the list is answered by the list', () => {
  expect(() => read({ auth: 'admin' })).toThrow('auth must be one of none, anon, user, service')
})

describe('what is refused, by the path of the field', () => {
  test.each([
    [{ auth: 'admin' }, '/auth'],
    [{ methods: ['TRACE'] }, '/methods/0'],
    [{ methods: [] }, '/methods'],
    [{ cors: ['example.com'] }, '/cors/0'],
    [{ cors: ['https://a.example/path'] }, '/cors/0'],
    [{ memory_mb: 1 }, '/memory_mb'],
    [{ memory_mb: 100.5 }, '/memory_mb'],
    [{ memory_mb: '256' }, '/memory_mb'],
    [{ timeout_ms: -1 }, '/timeout_ms'],
    [{ net: ['https://a.example'] }, '/net/0'],
    [{ net: ['10.0.0.0/8'] }, '/net/0'],
    [{ secrets: ['A B'] }, '/secrets/0'],
    [{ privileged: 'yes' }, '/privileged'],
    [{ verify_jwt: false }, '/verify_jwt'],
    [{ bindings: ['json:J={bad'] }, '/bindings/0'],
    [{ bindings: ['kv:E='] }, '/bindings/0'],
    [{ bindings: ['queue:Q=Bad Name'] }, '/bindings/0'],
    [{ bindings: ['var:A=1', 'kv:A=pages'] }, '/bindings/1'],
    [{ bindings: ['var:SUPABASE_URL=x'] }, '/bindings/0'],
    [{ bindings: ['kv:__proto__=x'] }, '/bindings/0'],
    [[], '/'],
    ['text', '/'],
  ])('%j', (given, path) => {
    try {
      read(given)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(TerraneError)
      const { code, errors } = error as TerraneError
      expect([code, errors.map((each) => each.path)]).toEqual(['FUNCTION_POLICY_INVALID', [path]])
    }
  })
})
