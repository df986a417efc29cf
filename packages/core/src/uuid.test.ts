import { expect, test } from 'vitest'
import { uuidv7 } from './uuid.ts'

test('ids have the layout of version 7 and sort by time', () => {
  const ids = Array.from({ length: 200 }, (_, i) => uuidv7(1_700_000_000_000 + i))
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(200)
  expect(Number.parseInt((ids[0] as string).replace('-', '').slice(0, 12), 16)).toBe(1_700_000_000_000)
})
