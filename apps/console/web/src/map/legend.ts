import type { ExpressionSpecification, Map as MapLibreMap } from 'maplibre-gl'
import { formatNumber } from '../lib/format.ts'
import { readValues } from '../lib/tables.ts'
import { PALETTE, SIMILARITY_RAMP, layerColor } from './colors.ts'

/** Legend of a table's colours. */
export interface Legend {
  readonly color: ExpressionSpecification | string
  readonly entries: readonly { readonly color: string; readonly text: string }[]
  /** Number of rows read when the table has more; null when all were read. */
  readonly sampled: number | null
}

/** Maximum number of rows that the values are read from: the size of one answer. */
const SAMPLE = 1000
const OTHER = '#8a949a'

/**
 * Colours for the values of a property: five steps of equal count for numbers, the most frequent values otherwise.
 *
 * @param table `schema.table`
 */
export async function legendOf(ref: string, table: string, property: string, signal?: AbortSignal): Promise<Legend> {
  const values = await readValues(ref, table, property, SAMPLE, signal)
  const sampled = values.length === SAMPLE ? SAMPLE : null
  const numbers = values.filter((value) => typeof value === 'number')
  return numbers.length === values.length && new Set(numbers).size > PALETTE.length
    ? { ...steps(property, numbers), sampled }
    : { ...categories(property, values.map(String)), sampled }
}

function steps(property: string, numbers: readonly number[]): Pick<Legend, 'color' | 'entries'> {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  const breaks = [...new Set(SIMILARITY_RAMP.slice(1).map((_, i) => at((i + 1) / SIMILARITY_RAMP.length)))]
  const stops = breaks.flatMap((value, i) => [value, SIMILARITY_RAMP[i + 1] ?? OTHER])
  const step = ['step', ['to-number', ['get', property]], SIMILARITY_RAMP[0], ...stops]
  const bounds = [at(0), ...breaks, at(1)]
  return {
    color: ['case', ['has', property], step, OTHER] as unknown as ExpressionSpecification,
    entries: [0, ...breaks].map((_, i) => ({
      color: SIMILARITY_RAMP[i] ?? OTHER,
      text: `${formatNumber(bounds[i] ?? 0)} – ${formatNumber(bounds[i + 1] ?? 0)}`,
    })),
  }
}

function categories(property: string, values: readonly string[]): Pick<Legend, 'color' | 'entries'> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  const frequent = [...counts].toSorted((a, b) => b[1] - a[1]).map(([value]) => value)
  const shown = frequent.slice(0, PALETTE.length)
  if (shown.length === 0) return { color: OTHER, entries: [{ color: OTHER, text: 'no value' }] }
  const pairs = shown.flatMap((value, i) => [value, PALETTE[i] ?? OTHER])
  return {
    color: ['match', ['to-string', ['get', property]], ...pairs, OTHER] as unknown as ExpressionSpecification,
    entries: [
      ...shown.map((text, i) => ({ color: PALETTE[i] ?? OTHER, text })),
      ...(frequent.length > shown.length ? [{ color: OTHER, text: `${frequent.length - shown.length} others` }] : []),
    ],
  }
}

/** Draws a table in the colours of a legend, or in its single colour without one. */
export function colorTable(map: MapLibreMap, table: string, legend: Legend | null): void {
  const color = legend?.color ?? layerColor(table)
  for (const layer of map.getStyle().layers) {
    if (!('source' in layer) || layer.source !== `live:${table}`) continue
    if (layer.type === 'fill') {
      map.setPaintProperty(layer.id, 'fill-color', color)
      map.setPaintProperty(layer.id, 'fill-outline-color', color)
    } else if (layer.type === 'line') map.setPaintProperty(layer.id, 'line-color', color)
    else if (layer.type === 'circle') map.setPaintProperty(layer.id, 'circle-color', color)
  }
}
