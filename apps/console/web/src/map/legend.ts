import type { ExpressionSpecification, Map as MapLibreMap } from 'maplibre-gl'
import { projectPath, request } from '../lib/api.ts'
import { formatNumber, formatRange } from '../lib/format.ts'
import { PALETTE, SIMILARITY_RAMP, layerColor } from './colors.ts'

/** A colour, its text, and how many rows of the table have it. */
export interface LegendEntry {
  readonly color: string
  readonly text: string
  readonly rows: number
}

/** Legend of a table's colours. */
export interface Legend {
  readonly color: ExpressionSpecification | string
  readonly entries: readonly LegendEntry[]
}

/** Values of a property over all rows of a table, as the origin counts them. */
export interface ColumnStats {
  readonly property: string
  readonly type: 'Number' | 'Boolean' | 'String'
  readonly rows: number
  readonly missing: number
  readonly distinct: number
  readonly values: readonly { readonly value: string | number | boolean; readonly rows: number }[]
  readonly classes: readonly { readonly from: number; readonly to: number; readonly rows: number }[]
}

const OTHER = '#8a949a'
/** The last colour of the palette is as grey as all others. */
const MOST_CATEGORIES = PALETTE.length - 1

/** @param table `schema.table` */
export function readStats(ref: string, table: string, property: string, signal?: AbortSignal): Promise<ColumnStats> {
  const query = new URLSearchParams({ property, classes: String(SIMILARITY_RAMP.length) })
  return request('GET', projectPath(ref, `/vector/v1/${encodeURIComponent(table)}/stats?${query}`), undefined, signal)
}

/** Colours for the values of a property: steps of equal count for numbers, the most frequent values otherwise. */
export function legendOf(stats: ColumnStats): Legend {
  const { type, distinct, rows, missing } = stats
  const { color, entries } = type === 'Number' && distinct > MOST_CATEGORIES ? steps(stats) : categories(stats)
  const rest = rows - missing - entries.reduce((sum, entry) => sum + entry.rows, 0)
  const others = distinct - entries.length
  return {
    color,
    entries: [
      ...entries,
      ...(rest > 0 ? [{ color: OTHER, text: `${formatNumber(others)} other values`, rows: rest }] : []),
      ...(missing > 0 || entries.length === 0 ? [{ color: OTHER, text: 'no value', rows: missing }] : []),
    ],
  }
}

function steps({ property, classes }: ColumnStats): Legend {
  const colors = classes.map((_, i) => SIMILARITY_RAMP[i] ?? OTHER)
  const value = ['number', ['get', property]]
  const stops = classes.slice(1).flatMap(({ from }, i) => [from, colors[i + 1] ?? OTHER])
  const step = stops.length === 0 ? (colors[0] ?? OTHER) : ['step', value, colors[0], ...stops]
  // A tile may hold numbers that are not finite; they are in no class.
  const isClassed = ['all', ['has', property], ['<=', ['abs', value], Number.MAX_VALUE]]
  const all = [classes[0]?.from ?? 0, classes.at(-1)?.to ?? 0] as const
  return {
    color: ['case', isClassed, step, OTHER] as unknown as ExpressionSpecification,
    entries: classes.map(({ from, to, rows }, i) => ({
      color: colors[i] ?? OTHER,
      text: formatRange(from, to, all),
      rows,
    })),
  }
}

function categories({ property, values }: ColumnStats): Legend {
  const shown = values.slice(0, MOST_CATEGORIES).map((one, i) => ({ ...one, color: PALETTE[i] ?? OTHER }))
  if (shown.length === 0) return { color: OTHER, entries: [] }
  const pairs = shown.flatMap(({ value, color }) => [['==', ['get', property], value], color])
  return {
    color: ['case', ...pairs, OTHER] as unknown as ExpressionSpecification,
    entries: shown.map(({ value, color, rows }) => ({
      color,
      text:
        typeof value === 'number'
          ? formatRange(value, value, [value, value])
          : value === ''
            ? '(empty)'
            : String(value),
      rows,
    })),
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
