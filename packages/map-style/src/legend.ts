import { UNCLASSED } from './expressions.ts'
import type { Coloring } from './document.ts'
import { colorsOf } from './palettes.ts'

/** A colour of the map, its meaning, and its number of rows in the table. */
export interface LegendEntry {
  readonly color: string
  /** A range of numbers without its end (the last class includes it), a value, or the rest. */
  readonly of:
    | { readonly from: number; readonly to: number }
    | { readonly value: string | number | boolean }
    | 'others'
    | 'missing'
  readonly rows: number
}

/** The legend of a layer's colours; empty for a layer of one colour. */
export function legendOf(coloring: Coloring): LegendEntry[] {
  if (coloring.by === 'one') return []
  const missing: LegendEntry[] =
    coloring.missing > 0 ? [{ color: UNCLASSED, of: 'missing', rows: coloring.missing }] : []
  if (coloring.by === 'category') {
    const { values, palette } = coloring
    const colors = colorsOf(palette, values.length)
    const cut = values.slice(colors.length).reduce((sum, { rows }) => sum + rows, coloring.others)
    return [
      ...values
        .slice(0, colors.length)
        .map(({ value, rows }, i): LegendEntry => ({ color: colors[i]!, of: { value }, rows })),
      ...(cut > 0 ? [{ color: UNCLASSED, of: 'others' as const, rows: cut }] : []),
      ...missing,
    ]
  }
  const { starts, high, rows, palette, isReversed } = coloring
  const colors = colorsOf(palette, starts.length, isReversed)
  return [
    ...starts.map((from, i) => ({
      color: colors[i]!,
      of: { from, to: starts[i + 1] ?? Math.max(from, high) },
      rows: rows[i] ?? 0,
    })),
    ...missing,
  ]
}
