import {
  breaksOf,
  PALETTES,
  type Coloring,
  type Distribution,
  type Filter,
  type MapDocument,
  type MapLayer,
} from '@terrane/map-style'

const pick = <T>(random: () => number, all: readonly T[]): T => all[Math.floor(random() * all.length)]!

/** The statistics of numbers that the database computes: here by sorting. */
export function distributionOf(numbers: readonly number[]): Distribution {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!
  return {
    rows: numbers.length,
    missing: 0,
    low: sorted[0] ?? null,
    high: sorted.at(-1) ?? null,
    quantiles: sorted.length === 0 ? null : Array.from({ length: 841 }, (_, i) => at(i / 840)),
    histogram: [],
    counts: [],
  }
}

/** Numbers as columns have them: small whole ones, wide, or close to each other. */
export function randomNumbers(random: () => number): number[] {
  const scale = pick(random, [1, 7, 1000, 1e9, 1e-6])
  const isWhole = random() < 0.5
  return Array.from({ length: 1 + Math.floor(random() * 300) }, () => {
    const value = (random() - 0.3) * scale
    // Never a negative zero, which JSON does not have.
    return isWhole ? Math.round(value) + 0 : value
  })
}

export function randomColoring(random: () => number, numbers: readonly number[]): Coloring {
  const by = pick(random, ['one', 'number', 'category'] as const)
  if (by === 'one') return { by, color: '#2a9d8f' }
  if (by === 'category') {
    const palette = pick(random, ['vivid', 'muted'])
    const values = [...new Set(['a', '', 'true', true, 3, '3', 'é "x"'])].slice(0, Math.floor(random() * 9))
    return { by, property: 'kind', palette, values: values.map((value) => ({ value, rows: 2 })), others: 1, missing: 0 }
  }
  const palettes = Object.keys(PALETTES).filter((name) => PALETTES[name]!.kind !== 'category')
  const method = pick(random, ['quantile', 'equal', 'natural'] as const)
  const told = distributionOf(numbers)
  const starts = breaksOf(method, 2 + Math.floor(random() * 7), told)
  const rows = starts.map(() => 1)
  const palette = pick(random, palettes)
  const isReversed = random() < 0.5
  return { by, property: 'number', method, palette, isReversed, starts, high: told.high ?? 0, rows, missing: 2 }
}

function randomFilter(random: () => number): Filter {
  const is = pick(random, ['equal', 'not', 'less', 'more', 'contains', 'empty', 'filled'] as const)
  return { property: pick(random, ['number', 'kind', 'odd "name"']), is, value: pick(random, ['a', 3, true, '']) }
}

export function randomMap(random: () => number): MapDocument {
  const layers = Array.from({ length: Math.floor(random() * 4) }, (_, i): MapLayer => {
    const shared = {
      id: `layer-${i}`,
      title: `Layer ${i}`,
      isShown: random() < 0.8,
      opacity: Math.round(random() * 100) / 100,
      zooms: [Math.floor(random() * 5), 12 + Math.floor(random() * 10)] as const,
      bounds: [5.7, 49.4, 6.5, 50.2] as const,
      attribution: pick(random, ['', '© someone']),
    }
    if (random() < 0.25) {
      const url = 'storage://uploads/scene one.tif'
      return {
        ...shared,
        kind: 'raster',
        url,
        bands: [1],
        stretch: [[0, 255]],
        colormap: 'viridis',
        tileZooms: [4, 14],
      }
    }
    return {
      ...shared,
      kind: 'vector',
      table: 'public.pläces',
      geometry: pick(random, ['point', 'line', 'area', 'mixed'] as const),
      draw: pick(random, ['features', 'heat', 'cluster'] as const),
      color: randomColoring(random, randomNumbers(random)),
      size: 1 + random() * 10,
      outline: { color: '#ffffff', width: pick(random, [0, 1]) },
      label: random() < 0.5 ? { property: 'kind', size: 12 } : null,
      filters: Array.from({ length: Math.floor(random() * 3) }, () => randomFilter(random)),
    }
  })
  const view = random() < 0.5 ? null : { center: [6.1, 49.8] as const, zoom: 9 }
  return { title: 'A map', notes: '', view, layers }
}
