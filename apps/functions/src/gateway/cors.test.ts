import { expect, test } from 'vitest'
import { answerCors, answersPreflights, type CorsPolicy } from './cors.ts'

const MINE = 'https://mine.example'
const policy = (cors: string[]): CorsPolicy => ({ auth: 'none', cors, methods: ['GET', 'OPTIONS'] })
const sent = (headers: Record<string, string>) => Object.entries(headers).flat()

function answered(cors: string[], own: Record<string, string>, origin?: string) {
  const { headers, narrowed } = answerCors(policy(cors), sent(own), origin)
  const names = headers.filter((_, i) => i % 2 === 0)
  expect(new Set(names).size).toBe(names.length)
  const { 'access-control-expose-headers': exposed, ...rest } = Object.fromEntries(
    names.map((name, i) => [name.replace('access-control-allow-', ''), headers[2 * i + 1]]),
  )
  return {
    ...rest,
    ...(exposed !== undefined && { exposed: exposed.includes('x-error-code') ? 'host' : exposed }),
    narrowed,
  }
}

const OWN = {
  'access-control-allow-origin': MINE,
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'x-total-count',
}

test('the function’s own headers stand, and the host’s are for what it does not say', () => {
  const own = { origin: MINE, credentials: 'true', exposed: 'x-total-count', narrowed: false }
  for (const origin of [MINE, 'https://other.example', undefined]) expect(answered(['*'], OWN, origin)).toEqual(own)
  expect(answered([], OWN, MINE)).toEqual(own)
  expect(answered([], {}, MINE)).toEqual({ narrowed: false })
  expect(answered(['*'], {}, MINE)).toEqual({ origin: '*', exposed: 'host', narrowed: false })
  expect(answered(['*'], { 'access-control-expose-headers': 'x-total-count' }, MINE)).toEqual({
    origin: '*',
    exposed: 'x-total-count',
    narrowed: false,
  })
})

test('a list of origins narrows them, and never widens', () => {
  const listed = [MINE, 'https://other.example']
  expect(answered(listed, OWN, MINE)).toEqual({
    origin: MINE,
    credentials: 'true',
    exposed: 'x-total-count',
    vary: 'Origin',
    narrowed: false,
  })
  // The function allows fewer origins than the list.
  expect(answered(listed, OWN, 'https://other.example')).toMatchObject({ origin: MINE, narrowed: false })
  const any = { ...OWN, 'access-control-allow-origin': '*' }
  expect(answered(listed, any, MINE)).toEqual({
    origin: MINE,
    exposed: 'x-total-count',
    vary: 'Origin',
    narrowed: true,
  })
  expect(answered(['https://other.example'], OWN, MINE)).toEqual({ vary: 'Origin', narrowed: true })
  expect(answered(listed, any, 'https://evil.example')).toEqual({ vary: 'Origin', narrowed: true })
  expect(answered(listed, OWN, 'https://evil.example')).toEqual({ vary: 'Origin', narrowed: false })
  // A request without Origin does not come from a page.
  expect(answered(listed, any)).toEqual({ vary: 'Origin', narrowed: false })
})

test('a function answers preflights itself where it takes OPTIONS from anyone, and no list of origins does', () => {
  expect(answersPreflights(policy(['*']))).toBe(false)
  expect(answersPreflights(policy([]))).toBe(false)
  expect(answersPreflights(policy([MINE]))).toBe(true)
  expect(answersPreflights({ ...policy(['*']), methods: ['GET'] })).toBe(true)
  // A preflight has no credentials.
  expect(answersPreflights({ ...policy(['*']), auth: 'anon' })).toBe(true)
})
