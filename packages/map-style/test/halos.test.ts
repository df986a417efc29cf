import { latest, featureFilter, validateStyleMin, type StyleSpecification } from '@maplibre/maplibre-gl-style-spec'
import { randomCases } from '@terrane/testing/property'
import { expect, test } from 'vitest'
import { colorsOf, compile, type MapDocument, type VectorLayer } from '../src/index.ts'
import { isHalo, withHalos, type Ground } from '../src/halos.ts'
import { randomMap } from './random-map.ts'

/** Brightness decides here; the console measures contrast. */
const isFaint = (color: string) => Number.parseInt(color.slice(3, 5), 16) < 0x60
const DARK: Ground = { isFaint, halo: '#74828b' }
const starts = [0, 1, 2, 3, 4, 5, 6, 7]

function mapOf(geometry: VectorLayer['geometry'], more: Partial<VectorLayer> = {}): MapDocument {
  const color = { by: 'number', property: 'n', method: 'equal', palette: 'viridis', isReversed: false, starts, high: 8, rows: [], missing: 0 } as const // prettier-ignore
  const layer: VectorLayer = {
    id: 'a',
    title: 'A',
    isShown: true,
    opacity: 1,
    zooms: [0, 24],
    bounds: [0, 0, 1, 1],
    attribution: '',
    kind: 'vector',
    table: 'public.a',
    geometry,
    draw: 'features',
    color,
    size: 2,
    outline: { color: '#ffffff', width: 0 },
    label: null,
    filters: [],
    ...more,
  }
  return { title: '', notes: '', view: null, layers: [layer] }
}

const halosOf = (map: MapDocument, ground = DARK) =>
  withHalos(compile(map).layers, map, ground).filter(({ id }) => isHalo(id))

test.each([
  ['line', 2],
  ['area', 3],
  ['point', 1],
] as const)('classes of %ss that are faint on a dark basemap have a halo, and no others', (geometry, type) => {
  const [halo] = halosOf(mapOf(geometry))
  const { filter } = featureFilter(halo!['filter'] as never, latest.layer.filter as never)
  const hasHalo = [...starts.map((n) => ({ n })), {}].map((properties) => filter({ zoom: 8 }, { type, properties }))
  const shades = [...colorsOf('viridis', 8), '#8a949a']
  expect(hasHalo).toEqual(shades.map(isFaint))
  // Dark purple is among them, and yellow is not.
  expect([hasHalo[0], hasHalo[7]]).toEqual([true, false])
})

test('halos lie outside of what they surround', () => {
  const radius = (part: object) => (part as { paint: Record<string, unknown> }).paint['circle-radius']
  const map = mapOf('point', { outline: { color: '#202020', width: 2 } })
  const [halo, point] = withHalos(compile(map).layers, map, DARK).filter(({ type }) => type === 'circle')
  expect([radius(halo!), (halo!['paint'] as object)]).toEqual([radius(point!), expect.objectContaining({ 'circle-stroke-width': 3, 'circle-opacity': 0 })]) // prettier-ignore
  const line = mapOf('line')
  const [casing, inner] = withHalos(compile(line).layers, line, DARK).filter(({ type }) => type === 'line')
  const paint = (part: object) => (part as { paint: Record<string, unknown> }).paint
  expect(paint(casing!)['line-gap-width']).toEqual(paint(inner!)['line-width'])
})

test('a visible outline, heat maps, clusters and clear colours need no halo; a faint single colour has one', () => {
  const outline = { color: '#ffffff', width: 0.8 }
  expect(halosOf(mapOf('area', { outline }))).toEqual([])
  expect(halosOf(mapOf('point', { draw: 'heat' }))).toEqual([])
  expect(halosOf(mapOf('point', { draw: 'cluster' }))).toEqual([])
  expect(halosOf(mapOf('line', { color: { by: 'one', color: '#fde725' } }))).toEqual([])
  expect(halosOf(mapOf('line', { color: { by: 'one', color: '#440154' } }))).toHaveLength(1)
  // Lines have no outline, so the one of their document does not count.
  expect(halosOf(mapOf('line', { outline }))).toHaveLength(1)
})

test('a style with halos passes the validator of MapLibre', async () => {
  await randomCases(200, (random) => {
    const map = randomMap(random)
    const style = compile(map)
    const layers = withHalos(style.layers, map, DARK)
    expect(validateStyleMin({ ...style, layers } as unknown as StyleSpecification)).toEqual([])
    expect(layers.filter(({ id }) => !isHalo(id))).toEqual(style.layers)
  })
})
