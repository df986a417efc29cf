import { createExpression, featureFilter, latest, validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { randomCases } from '@terrane/testing/property'
import { expect, test } from 'vitest'
import {
  addressed,
  breaksOf,
  colorsOf,
  compile,
  documentOf,
  legendOf,
  publishedOf,
  tablesOf,
  PALETTES,
  type Coloring,
  type Filter,
  type MapDocument,
} from '../src/index.ts'
import { distributionOf, randomColoring, randomMap, randomNumbers } from './random-map.ts'

/** Operators that QgsMapBoxGlStyleConverter of QGIS 3.40 converts; it draws conditions with others wrongly. */
const IN_QGIS = new Set([
  'all',
  'any',
  '!',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'has',
  'get',
  'case',
  'step',
  'to-number',
  'to-string',
  'geometry-type',
])

test('areas are labelled at the points that their tiles have for it, other features at themselves', () => {
  const labelled = (geometry: 'area' | 'line' | 'mixed') => {
    const map = mapOf({ by: 'one', color: '#000000' }, [])
    const layer = { ...map.layers[0]!, geometry, label: { property: 'name', size: 12 } }
    const style = compile({ ...map, layers: [layer] as MapDocument['layers'] })
    const labels = style.layers.filter(({ type }) => type === 'symbol')
    const [source] = Object.values(style.sources)
    const hasPoints = (source!['tiles'] as string[])[0]!.endsWith('?label_points=true')
    return { hasPoints, labels: labels.map((part) => String(part['source-layer']).endsWith(':labels')) }
  }
  expect(labelled('area')).toEqual({ hasPoints: true, labels: [true] })
  expect(labelled('line')).toEqual({ hasPoints: false, labels: [false] })
  expect(labelled('mixed')).toEqual({ hasPoints: true, labels: [true, false, false] })
})

test('QGIS converts the colours and the filters of a style, but for texts that contain another', async () => {
  await randomCases(300, (random) => {
    for (const { filter, paint = {}, type } of compile(randomMap(random)).layers) {
      const colors = ['fill', 'line', 'circle'].map((kind) => (paint as Record<string, unknown>)[`${kind}-color`])
      const found = type === 'heatmap' ? [] : [...colors, filter].flatMap(operators)
      expect(found.filter((name) => !IN_QGIS.has(name) && name !== 'in' && name !== 'downcase')).toEqual([])
      expect(filter).not.toEqual(['all'])
    }
  })
})

function operators(expression: unknown): string[] {
  if (!Array.isArray(expression)) return []
  return [String(expression[0]), ...expression.slice(1).flatMap(operators)]
}

test('a style passes the validator of MapLibre, has the map whole, and is the same after JSON', async () => {
  await randomCases(300, (random) => {
    const map = randomMap(random)
    const style = addressed(compile(map), 'https://maps.example.org', 'key&1')
    expect(validateStyleMin(style as unknown as StyleSpecification)).toEqual([])
    const read = documentOf(JSON.parse(JSON.stringify(style)))
    expect(read).toEqual(map)
    expect(JSON.stringify(style.sources)).not.toContain('terrane:/')
    expect(compile(read)).toEqual(compile(map))
  })
})

test('the legend has the colour that a feature has on the map, whatever its value', async () => {
  await randomCases(300, (random) => {
    const numbers = randomNumbers(random)
    const coloring = randomColoring(random, numbers)
    const values = [...numbers, Number.NaN, Infinity, 'a', '', '3', 3, true, null]
    for (const value of values.slice(-40)) {
      const found = inLegend(coloring, value)
      expect([value, colorOnMap(coloring, value)]).toEqual([value, found])
    }
  })
})

test.each([
  ['line', { 'symbol-placement': 'line' }],
  ['point', { 'text-variable-anchor': ['top', 'bottom', 'left', 'right'], 'text-radial-offset': 0.7 }],
  ['area', {}],
] as const)('labels of a layer of geometry "%s" have the placement of their geometry', (geometry, placement) => {
  const map = mapOf({ by: 'one', color: '#000000' }, [])
  const layer = { ...map.layers[0]!, geometry, label: { property: 'name', size: 12 } } as MapDocument['layers'][number]
  const label = compile({ ...map, layers: [layer] }).layers.find(({ type }) => type === 'symbol')
  const names = new Set(['symbol-placement', 'text-variable-anchor', 'text-radial-offset'])
  const layout = Object.entries(label!['layout'] as object).filter(([name]) => names.has(name))
  expect(Object.fromEntries(layout)).toEqual(placement)
})

test('a filter draws the features that fulfil it', () => {
  const passes = (filter: Filter, value: unknown) => {
    const [, layer] = compile(mapOf({ by: 'one', color: '#000000' }, [filter])).layers
    const check = featureFilter(layer!['filter'] as never, latest.layer.filter as never)
    const properties = value === undefined ? {} : { kind: value }
    return check.filter({ zoom: 10 }, { type: 3, properties } as never)
  }
  const given: [Filter['is'], string | number, unknown[], unknown[]][] = [
    ['equal', 'a', ['a'], ['b', 1, undefined]],
    ['equal', 3, [3], ['3', 4, undefined]],
    ['not', 'a', ['b', undefined], ['a']],
    ['less', 3, [2.9, -1], [3, 4, '2', undefined]],
    ['more', 3, [3.1], [3, '4', undefined]],
    ['contains', 'AR', ['bar', 'Arlon'], ['ba', undefined]],
    ['empty', '', [undefined, ''], ['a', 0]],
    ['filled', '', ['a', 0, false], [undefined, '']],
  ]
  for (const [is, value, drawn, hidden] of given) {
    const filter = { property: 'kind', is, value }
    expect([is, drawn.map((one) => passes(filter, one))]).toEqual([is, drawn.map(() => true)])
    expect([is, hidden.map((one) => passes(filter, one))]).toEqual([is, hidden.map(() => false)])
  }
})

test('natural breaks have the least squared differences that any classes have', async () => {
  await randomCases(60, (random) => {
    const quantiles = Array.from({ length: 12 }, () => Math.round(random() * 50)).toSorted((a, b) => a - b)
    const [low, high] = [quantiles[0]!, quantiles.at(-1)!]
    const starts = breaksOf('natural', 3, { ...distributionOf([]), low, high, quantiles })
    if (new Set(quantiles).size < 3) return
    const cost = (cuts: readonly number[]) =>
      [0, ...cuts].reduce((sum, from, i) => sum + spread(quantiles.slice(from, cuts[i] ?? 12)), 0)
    const all = quantiles
      .flatMap((_, a) => quantiles.map((__, b) => [a, b] as const))
      .filter(([a, b]) => a > 0 && b > a)
    const best = Math.min(...all.map(cost))
    expect(cost(starts.slice(1).map((start) => quantiles.indexOf(start)))).toBeCloseTo(best, 6)
  })
})

test('natural breaks of numbers far from 0 are those of the same numbers about 0', () => {
  const near = distributionOf([0, 1, 2, 40, 41, 43, 90, 91])
  const far = distributionOf([0, 1, 2, 40, 41, 43, 90, 91].map((value) => 1e12 + value))
  expect(breaksOf('natural', 3, near)).toEqual([0, 40, 90])
  expect(breaksOf('natural', 3, far)).toEqual([1e12, 1e12 + 40, 1e12 + 90])
})

test('classes of equal count, equal width and equal ratio are as by hand', () => {
  const told = distributionOf(Array.from({ length: 1000 }, (_, i) => i + 1))
  expect(breaksOf('quantile', 4, told)).toEqual([1, 250, 500, 750])
  expect(breaksOf('equal', 3, { ...told, low: 0, high: 90 })).toEqual([0, 30, 60])
  expect(breaksOf('log', 3, { ...told, low: 1, high: 1000 }).map(Math.round)).toEqual([1, 10, 100])
  expect(breaksOf('quantile', 5, distributionOf([4, 4, 4]))).toEqual([4])
  expect(breaksOf('equal', 5, distributionOf([]))).toEqual([])
  expect(() => breaksOf('log', 3, { ...told, low: -1 })).toThrow('has no logarithm')
})

test('neighbours of a palette differ to people who see red and green alike, and to all others', () => {
  for (const [name, { kind, colors }] of Object.entries(PALETTES)) {
    const five = kind === 'category' ? colors : colorsOf(name, 5)
    for (const [seen, see] of Object.entries(SIGHTS)) {
      const seenColors = five.map((color) => lab(see(rgb(color))))
      const pairs =
        kind === 'category' ? allPairs(seenColors) : seenColors.slice(1).map((b, i) => [seenColors[i]!, b] as const)
      const least = Math.min(...pairs.map(([a, b]) => Math.hypot(...a.map((value, i) => value - b[i]!))))
      expect([name, seen, least > 8]).toEqual([name, seen, true])
    }
  }
})

test('what is no map is refused by the name of its member', () => {
  const style = compile(mapOf({ by: 'one', color: '#000000' }, []))
  const changed = (change: object) => ({
    ...style,
    metadata: { 'terrane:map': { ...(style.metadata['terrane:map'] as MapDocument), ...change } },
  })
  const layer = (style.metadata['terrane:map'] as MapDocument).layers[0]!
  const colored = (color: object) => changed({ layers: [{ ...layer, color: { by: 'category', ...color } }] })
  for (const [bad, field] of [
    [{}, 'metadata'],
    [changed({ layers: {} }), 'layers'],
    [changed({ layers: [layer, layer] }), 'ids of their own'],
    [changed({ layers: [{ ...layer, table: '../secrets' }] }), 'layers[0].table'],
    [changed({ layers: [{ ...layer, id: 'a"b' }] }), 'layers[0].id'],
    [changed({ layers: [{ ...layer, opacity: 'x' }] }), 'layers[0].opacity'],
    [colored({ values: [null] }), 'layers[0].color.values'],
    [colored({ values: [{ value: null, rows: 1 }] }), 'layers[0].color.values'],
    [colored({ by: 'number', starts: [1, 3, 2], rows: [] }), 'layers[0].color.starts'],
    [colored({ by: 'number', starts: [1, 1], rows: [] }), 'layers[0].color.starts'],
    [changed({ layers: [{ ...layer, filters: [{ property: 'a', is: 'like', value: '' }] }] }), 'filters[0].is'],
    [changed({ layers: [{ ...layer, filters: [{ property: 'a', is: 'not', value: [] }] }] }), 'filters[0].value'],
    [changed({ layers: Array.from({ length: 61 }, (_, i) => ({ ...layer, id: `l${i}` })) }), 'at most 60'],
  ] as const)
    expect(() => documentOf(bad)).toThrow(field)
})

test('what is published has no notes, no hidden layers, and no bounds that hide later rows', () => {
  const { layers } = mapOf({ by: 'one', color: '#000000' }, [])
  const [layer] = layers as [MapDocument['layers'][0]]
  const hidden = { ...layer, id: 'b', isShown: false, table: 'public.secret' }
  const all = { title: 'A', notes: 'Not for others', view: null, layers: [layer, { ...layer, id: 'c' }, hidden] }
  expect(tablesOf(all)).toEqual(['public.a', 'public.secret'])
  expect(tablesOf(publishedOf(all))).toEqual(['public.a'])
  expect(JSON.stringify(compile(publishedOf(all)))).not.toMatch(/secret|Not for others/)
  expect(compile(all).sources['a']).not.toHaveProperty('bounds')
})

function mapOf(color: Coloring, filters: readonly Filter[]): MapDocument {
  const zooms = [0, 24] as const
  const bounds = [0, 0, 1, 1] as const
  const shared = { id: 'a', title: 'A', isShown: true, opacity: 1, zooms, bounds, attribution: '' }
  const outline = { color: '#ffffff', width: 0 }
  const layer = {
    ...shared,
    kind: 'vector',
    table: 'public.a',
    geometry: 'area',
    draw: 'features',
    color,
    size: 2,
  } as const
  return { title: 'A', notes: '', view: null, layers: [{ ...layer, outline, label: null, filters }] }
}

function colorOnMap(coloring: Coloring, value: unknown): string {
  const [, fill] = compile(mapOf(coloring, [])).layers
  const paint = fill!['paint'] as Record<string, unknown>
  if (typeof paint['fill-color'] === 'string') return paint['fill-color']
  const expression = createExpression(paint['fill-color'], 'fill-color', latest.paint_fill['fill-color'] as never)
  if (expression.result === 'error') throw new Error(JSON.stringify(expression.value))
  const property = coloring.by === 'one' ? 'x' : coloring.property
  const properties = value === null ? {} : { [property]: value }
  const color = expression.value.evaluate({ zoom: 10 }, { type: 3, properties } as never) as {
    r: number
    g: number
    b: number
  }
  return `#${[color.r, color.g, color.b]
    .map((part) =>
      Math.round(part * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}

function inLegend(coloring: Coloring, value: unknown): string {
  if (coloring.by === 'one') return coloring.color
  const entries = legendOf(coloring)
  const classes = entries.filter(({ of }) => typeof of === 'object' && 'from' in of)
  const found = entries.find(({ of }) => typeof of === 'object' && 'value' in of && of.value === value)
  if (found) return found.color
  if (coloring.by === 'category' || typeof value !== 'number' || !Number.isFinite(value)) return '#8a949a'
  return (classes.findLast(({ of }) => (of as { from: number }).from <= value) ?? classes[0])?.color ?? '#8a949a'
}

function spread(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
}

type Triple = readonly [number, number, number]

/** Full deuteranopia and protanopia: Machado, Oliveira and Fernandes 2009, table of severity 1.0, on linear RGB. */
const SIGHTS: Readonly<Record<string, (color: Triple) => Triple>> = {
  usual: (color) => color,
  deuteranopia: times([0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881]),
  protanopia: times([0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998]),
}

function times(m: readonly number[]): (color: Triple) => Triple {
  return (color) => [0, 3, 6].map((row) => color.reduce((sum, c, i) => sum + c * m[row + i]!, 0)) as unknown as Triple
}

function rgb(color: string): Triple {
  const part = (at: number) => {
    const c = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  }
  return [part(1), part(3), part(5)]
}

/** CIE L*a*b* under D65. */
function lab(color: Triple): Triple {
  const toXyz = times([0.4124, 0.3576, 0.1805, 0.2126, 0.7152, 0.0722, 0.0193, 0.1192, 0.9505])
  const [x, y, z] = toXyz(color).map((value, i) =>
    Math.cbrt(Math.max(0, value) / [0.9505, 1, 1.089][i]!),
  ) as unknown as Triple
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

function allPairs<T>(all: readonly T[]): (readonly [T, T])[] {
  return all.flatMap((a, i) => all.slice(i + 1).map((b) => [a, b] as const))
}

test('a raster is drawn in the resolution of the screen', () => {
  const map = mapOf({ by: 'one', color: '#000000' }, [])
  const raster = {
    ...map.layers[0]!,
    kind: 'raster',
    url: 'storage://a/b.tif',
    bands: [1],
    stretch: [],
    colormap: null,
  }
  const layers = [{ ...raster, tileZooms: [3, 9] }] as unknown as MapDocument['layers']
  const style = addressed(compile({ ...map, layers }), 'https://maps.example.org')
  expect(validateStyleMin(style as unknown as StyleSpecification)).toEqual([])
  expect(Object.values(style.sources)[0]!['tiles']).toEqual([
    'https://maps.example.org/raster/v1/tiles/WebMercatorQuad/{z}/{x}/{y}{ratio}.webp?url=storage%3A%2F%2Fa%2Fb.tif&bidx=1',
  ])
})

test('clusters are drawn from tiles that count what the filters leave, with their number upon them', () => {
  const map = mapOf({ by: 'one', color: '#000000' }, [{ property: 'kind', is: 'more', value: 3 }])
  const layers = [{ ...map.layers[0]!, geometry: 'point', draw: 'cluster' }] as MapDocument['layers']
  const style = addressed(compile({ ...map, layers }), 'https://maps.example.org', 'key')
  expect(validateStyleMin(style as unknown as StyleSpecification)).toEqual([])
  expect(Object.values(style.sources)[0]!['tiles']).toEqual([
    'https://maps.example.org/vector/v1/public.a/{z}/{x}/{y}?cluster=512&and=%28%22kind%22.gt.%223%22%29&apikey=key',
  ])
  const [, point, count] = style.layers
  expect(point!['filter']).toEqual(['all', ['==', ['geometry-type'], 'Point']])
  expect(count).toMatchObject({
    type: 'symbol',
    filter: ['all', ['has', 'point_count'], ['>', ['get', 'point_count'], 1]],
  })
})
