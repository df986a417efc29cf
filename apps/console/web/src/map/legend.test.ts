import { createExpression } from '@maplibre/maplibre-gl-style-spec'
import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { legendOf, type ColumnStats } from './legend.ts'

type Value = string | number | boolean | null

/** What a database counts, by brute force. */
function statsOf(values: readonly Value[]): ColumnStats {
  const there = values.filter((value) => value !== null && !(typeof value === 'number' && !Number.isFinite(value)))
  const counts = new Map<Value, number>()
  for (const value of there) counts.set(value, (counts.get(value) ?? 0) + 1)
  const numbers = there.filter((value) => typeof value === 'number').toSorted((a, b) => a - b)
  const breaks = [0.2, 0.4, 0.6, 0.8].map((share) => numbers[Math.ceil(share * numbers.length) - 1] ?? 0)
  const starts = [...new Set([numbers[0] ?? 0, ...breaks])]
  const ends = [...starts.slice(1), Infinity]
  return {
    property: 'p',
    type: typeof there[0] === 'number' ? 'Number' : typeof there[0] === 'boolean' ? 'Boolean' : 'String',
    rows: values.length,
    missing: values.length - there.length,
    distinct: counts.size,
    values: [...counts]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, 20)
      .map(([value, rows]) => ({ value: value as string | number | boolean, rows })),
    classes: starts.map((from, i) => ({
      from,
      to: starts[i + 1] ?? numbers.at(-1) ?? 0,
      rows: numbers.filter((value) => value >= from && value < (ends[i] ?? 0)).length,
    })),
  }
}

/** Rows by the colour that a map gives them. */
function painted(color: unknown, values: readonly Value[]): Record<string, number> {
  const parsed = createExpression(color, { type: 'color' } as never)
  if (parsed.result === 'error') throw new Error(JSON.stringify(parsed.value))
  const expression = parsed.value
  const counts: Record<string, number> = {}
  for (const value of values) {
    // A tile does not hold what is null.
    const feature = { type: 'Point', properties: value === null ? {} : { p: value } } as never
    const drawn = String(expression.evaluate({ zoom: 3 }, feature))
    counts[drawn] = (counts[drawn] ?? 0) + 1
  }
  return counts
}

test('of fifty random columns each colour of the legend stands for the rows that the map draws in it', () => {
  const random = seededRandom(39)
  const kinds: readonly ((i: number) => Value)[] = [
    (i) => i * 10,
    () => Math.round(Math.exp(random() * 12)),
    () => random() / 1e6,
    () => Math.floor(random() * 5) / 2,
    () => (random() < 0.9 ? 7 : Math.floor(random() * 100)),
    () => [Number.NaN, Infinity, -Infinity, random()][Math.floor(random() * 4)] ?? null,
    () => `w${Math.floor(random() ** 3 * 30)}`,
    () => ['', 'a', 'true', '1'][Math.floor(random() * 4)] ?? '',
    () => random() < 0.3,
    (i) => i % 2,
  ]
  for (let column = 0; column < 50; column++) {
    const kind = kinds[column % kinds.length]!
    const values = Array.from({ length: 600 }, (_, i) => (random() < 0.1 ? null : kind(i)))
    const { color, entries } = legendOf(statsOf(values))
    const said: Record<string, number> = {}
    for (const entry of entries) {
      const [drawn = ''] = Object.keys(painted(entry.color, [1]))
      said[drawn] = (said[drawn] ?? 0) + entry.rows
    }
    expect([column, said]).toEqual([column, painted(color, values)])
  }
})

test('the classes of 3,000 rows reach to the last of them', () => {
  const { entries } = legendOf(statsOf(Array.from({ length: 3000 }, (_, i) => i * 10)))
  expect(entries.map(({ text }) => text)).toEqual([
    '0 – 5,990',
    '5,990 – 11,990',
    '11,990 – 17,990',
    '17,990 – 23,990',
    '23,990 – 29,990',
  ])
})

test('small numbers are told apart, and what has no value is named', () => {
  const small = legendOf(statsOf([null, ...Array.from({ length: 10 }, (_, i) => i / 1e5)]))
  expect(small.entries.map(({ text }) => text)).toEqual([
    '0 – 0.00001',
    '0.00001 – 0.00003',
    '0.00003 – 0.00005',
    '0.00005 – 0.00007',
    '0.00007 – 0.00009',
    'no value',
  ])
  const none = legendOf(statsOf([null, null]))
  expect(none.entries).toEqual([{ color: '#8a949a', text: 'no value', rows: 2 }])
})
