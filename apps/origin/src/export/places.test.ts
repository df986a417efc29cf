import { expect, test } from 'vitest'
import { ExportPlaces } from './places.ts'

type Role = 'anon' | 'authenticated' | 'service_role'
const open = (most: number, mostOfCaller: number) => {
  const places = new ExportPlaces({ most, mostOfCaller })
  return (role: Role, address: string, subject: string | null = null) => places.take({ role, subject }, address)
}

test('a caller has its share of places, and again when one is free', () => {
  const take = open(10, 2)
  const free = take('anon', '1')
  take('anon', '1')
  expect(() => take('anon', '1')).toThrow(expect.objectContaining({ status: 429, code: 'TOO_MANY_EXPORTS' }))
  take('anon', '2')
  free()
  free()
  take('anon', '1')
  expect(() => take('anon', '1')).toThrow(expect.objectContaining({ status: 429 }))
})

test('a user is one caller wherever it comes from', () => {
  const take = open(10, 1)
  take('authenticated', '1', 'ada')
  expect(() => take('authenticated', '2', 'ada')).toThrow(expect.objectContaining({ status: 429 }))
  take('authenticated', '1', 'bob')
})

test('many callers of one role leave a place for each other role', () => {
  const take = open(4, 1)
  take('anon', '1')
  take('anon', '2')
  expect(() => take('anon', '3')).toThrow(expect.objectContaining({ status: 503, code: 'EXPORTS_BUSY' }))
  take('service_role', '1')
  expect(() => take('service_role', '2')).toThrow(expect.objectContaining({ status: 503 }))
  take('authenticated', '1', 'ada')
  expect(() => take('authenticated', '1', 'bob')).toThrow(expect.objectContaining({ status: 503 }))
})

test.each([1, 2])('of %i places each may be taken', (most) => {
  const take = open(most, 1)
  const roles: Role[] = ['anon', 'service_role']
  for (const role of roles.slice(0, most)) take(role, '1')
  expect(() => take('authenticated', '1')).toThrow(expect.objectContaining({ status: 503 }))
})

test('with no places each request is refused', () => {
  expect(() => open(0, 1)('service_role', '1')).toThrow(expect.objectContaining({ status: 503 }))
})
