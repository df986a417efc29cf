import { expect, test } from 'vitest'
import { firstColoring } from '../map/first-coloring.ts'
import { fieldsOf, sampleStats } from './sample-stats.ts'

const features = (rows: readonly Record<string, unknown>[]) =>
  rows.map((properties) => ({
    type: 'Feature' as const,
    properties,
    geometry: { type: 'Point' as const, coordinates: [0, 0] },
  }))

test('types of properties are those of all their values', () => {
  const found = fieldsOf(
    features([
      { a: 1, b: 'x', c: true, d: 1, e: null, f: [] },
      { a: null, d: 'x', e: 2 },
    ]),
  )
  expect(found).toEqual({ a: 'Number', b: 'String', c: 'Boolean', e: 'Number' })
})

test('numbers are counted in classes that begin where a fifth of them ends, equal ones in one class', () => {
  // PostgreSQL: select percentile_disc(array[0.2, 0.4, 0.6, 0.8]) within group (order by v) from unnest(…) v.
  const stats = sampleStats(features([5, 1, 3, 3, 3, 2, 9, 8, 7, 4, null].map((n) => ({ n }))), 'n')
  expect(stats).toMatchObject({ type: 'Number', rows: 11, missing: 1, distinct: 8 })
  expect(stats.classes).toEqual([
    { from: 1, to: 2, rows: 1 },
    { from: 2, to: 3, rows: 1 },
    { from: 3, to: 4, rows: 3 },
    { from: 4, to: 7, rows: 2 },
    { from: 7, to: 9, rows: 3 },
  ])
})

test('a file is coloured by its kinds, or by a telling number', async () => {
  const rows = Array.from({ length: 40 }, (_, i) => ({ id: i, name: `n${i}`, kind: ['a', 'b'][i % 2], population: i }))
  const of = (given: readonly Record<string, unknown>[]) => {
    const all = features(given)
    return firstColoring(fieldsOf(all), (name) => sampleStats(all, name))
  }
  expect(await of(rows)).toMatchObject({ by: 'number', property: 'population', starts: [0, 7, 15, 23, 31], high: 39 })
  expect(await of(rows.map(({ id, name, kind }) => ({ id, name, kind })))).toMatchObject({
    by: 'category',
    property: 'kind',
  })
  const sparse = rows.map(({ id, kind }) => ({ id, ref: id % 3 === 0 ? 'B12' : id % 7 === 0 ? 'A9' : null, kind }))
  expect(await of(sparse)).toMatchObject({ by: 'category', property: 'kind' })
  const others = rows.map(({ name, id }) => ({ name, id, lat: id, id_2: id, income: id * 2 }))
  expect(await of(others)).toMatchObject({ by: 'number', property: 'income' })
  expect(await of(rows.map(({ name, id }) => ({ name, id, lon: id })))).toBeNull()
  // A count has few values, and is still a number.
  expect(await of(rows.map(({ kind, id }) => ({ kind, shops_count: id % 3 })))).toMatchObject({
    by: 'number',
    property: 'shops_count',
    starts: [0, 1, 2],
  })
})
