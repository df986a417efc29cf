import type { ColumnStats } from '../map/live.ts'
import type { Fields } from '../map/first-coloring.ts'

type Features = readonly GeoJSON.Feature[]

/** Number of classes; same default as `/vector/v1/…/stats`. */
const CLASSES = 5
const TYPES: Readonly<Record<string, ColumnStats['type']>> = { number: 'Number', boolean: 'Boolean', string: 'String' }

/** Types of the properties of features; documents, lists, and properties of several types are left out. */
export function fieldsOf(features: Features): Fields {
  const fields = new Map<string, ColumnStats['type'] | null>()
  for (const { properties } of features)
    for (const [name, value] of Object.entries(properties ?? {})) {
      if (value === null) continue
      const type = TYPES[typeof value] ?? null
      fields.set(name, fields.has(name) && fields.get(name) !== type ? null : type)
    }
  return Object.fromEntries([...fields].flatMap(([name, type]) => (type === null ? [] : [[name, type]])))
}

/** Values of a property of features, counted as `/vector/v1/…/stats` counts those of a table. */
export function sampleStats(features: Features, name: string): ColumnStats {
  const counts = new Map<string | number | boolean, number>()
  for (const { properties } of features) {
    const value = (properties?.[name] ?? null) as string | number | boolean | null
    if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const filled = [...counts.values()].reduce((sum, rows) => sum + rows, 0)
  const values = [...counts].map(([value, rows]) => ({ value, rows })).toSorted((a, b) => b.rows - a.rows)
  const type = TYPES[typeof values[0]?.value] ?? 'String'
  const classes = type === 'Number' ? classesOf(counts as ReadonlyMap<number, number>, filled) : []
  return { type, rows: features.length, missing: features.length - filled, distinct: counts.size, values, classes }
}

/** Classes of about equal count; equal values are in one class. */
function classesOf(counts: ReadonlyMap<number, number>, filled: number): ColumnStats['classes'] {
  const sorted = [...counts].toSorted(([a], [b]) => a - b)
  const [low, high] = [sorted[0]![0], sorted.at(-1)![0]]
  const starts = [low]
  let below = 0
  for (const [value, rows] of sorted) {
    below += rows
    // As in percentile_disc, a class starts at the smallest value whose cumulative share reaches its limit.
    while (starts.length < CLASSES && below >= (filled * starts.length) / CLASSES) starts.push(value)
  }
  const distinct = [...new Set(starts)]
  return distinct.map((from, i) => {
    const to = distinct[i + 1]
    const within = sorted.filter(([value]) => value >= from && (to === undefined || value < to))
    return { from, to: to ?? high, rows: within.reduce((sum, [, rows]) => sum + rows, 0) }
  })
}
