import { legendOf, type Coloring, type MapDocument, type VectorLayer } from '@terrane/map-style'
import { expect, test } from 'vitest'
import { mapDefinition } from './layer-definition.ts'
import { qgisStyles } from './map-styles.ts'

const LAYER: VectorLayer = {
  id: 'a',
  title: 'Places & "towns"',
  isShown: true,
  opacity: 0.5,
  zooms: [3, 18],
  bounds: [0, 0, 1, 1],
  attribution: '',
  kind: 'vector',
  table: 'public.places',
  geometry: 'point',
  draw: 'features',
  color: { by: 'one', color: '#336699' },
  size: 4,
  outline: { color: '#ffffff', width: 1 },
  label: { property: 'name', size: 11 },
  filters: [],
}
const MAP = { title: 'Map', notes: '', view: null }
const NUMBERS = { by: 'number', property: 'people', method: 'manual', palette: 'viridis', isReversed: false } as const
const CLASSES: Coloring = { ...NUMBERS, starts: [1, 10, 100], high: 900, rows: [3, 2, 1], missing: 2 }

test('each class of the legend is a style of its colour, without a gap between their ranges', () => {
  const styles = qgisStyles({ ...LAYER, color: CLASSES })
  expect(styles.map(({ color }) => color)).toEqual(legendOf(CLASSES).map(({ color }) => color))
  expect(styles.map(({ expression }) => expression.replace("geometry_type(@geometry)='Point' AND ", ''))).toEqual([
    '"people" IS NOT NULL AND "people" < 10',
    '"people" IS NOT NULL AND "people" >= 10 AND "people" < 100',
    '"people" IS NOT NULL AND "people" >= 100',
    '"people" IS NULL',
  ])
})

test('categories and filters are quoted as QGIS reads them', () => {
  const values = ["it's", 'back\\slash', 3, true].map((value) => ({ value, rows: 1 }))
  const color: Coloring = { by: 'category', property: 'odd "k"', palette: 'vivid', values, others: 0, missing: 0 }
  const filters = [{ property: 'name', is: 'contains', value: "O'A" }] as const
  const [first, second, third, fourth, rest] = qgisStyles({ ...LAYER, color, filters })
  const filter = `geometry_type(@geometry)='Point' AND strpos(lower(to_string("name")), 'o''a') > 0 AND `
  expect(first!.expression).toBe(`${filter}"odd ""k""" IS 'it''s'`)
  expect(second!.expression).toBe(`${filter}"odd ""k""" IS 'back\\\\slash'`)
  expect(third!.expression).toBe(`${filter}"odd ""k""" IS 3`)
  expect(fourth!.expression).toBe(`${filter}"odd ""k""" IS true`)
  expect(rest!.expression.match(/IS NOT/g)).toHaveLength(4)
})

test('the layers of a map have their order, tiles, opacity and zooms', () => {
  const raster = { ...LAYER, id: 'r', title: 'Scene', kind: 'raster', url: 'storage://a/b.tif', bands: [1] } as const
  const cluster: VectorLayer = { ...LAYER, id: 'c', title: 'Clusters', draw: 'cluster', isShown: false, label: null }
  const layers = [LAYER, { ...raster, stretch: [[0, 9]], colormap: null, tileZooms: [2, 7] }, cluster]
  const { xml, unreadable } = mapDefinition('https://p.example.org', 'key', {
    ...MAP,
    title: 'A <map>',
    layers,
  } as MapDocument)
  expect(unreadable).toEqual([])
  const tree = [...xml.matchAll(/<layer-tree-layer [^>]*name="([^"]*)"[^>]*checked="Qt::(\w+)"/g)].map((found) =>
    found.slice(1),
  )
  expect(tree).toEqual([
    ['Places &#38; &#34;towns&#34;', 'Checked'],
    ['Scene', 'Checked'],
    ['Clusters', 'Unchecked'],
  ])
  expect(xml).toContain('name="A &#60;map&#62;"')
  expect(xml).toContain('public.places/{z}/{x}/{y}&#38;zmin=0&#38;zmax=22&#38;http-header:apikey=key')
  expect(xml).toContain('{y}.webp?url=storage%3A%2F%2Fa%2Fb.tif%26bidx=1%26rescale=0%2C9&#38;zmin=2&#38;zmax=7')
  expect(xml).toContain('public.places/{z}/{x}/{y}?cluster=512&#38;zmin')
  expect(xml).toContain('name="Clusters, clusters" max-zoom="18" min-zoom="3" layer="places"')
  expect(xml).toContain('alpha="0.5"')
  expect(xml).toContain('value="#336699"')
})

test('labels are those of the drawn features, of each geometry', () => {
  const filters = [{ property: 'people', is: 'more', value: 5 }] as const
  const { xml } = mapDefinition('https://p.example.org', 'key', {
    ...MAP,
    layers: [{ ...LAYER, geometry: 'mixed', filters }],
  })
  const labels = [...xml.matchAll(/<style name="labels".*?geometry="(\d)".*?expression="([^"]*)"/g)]
  expect(labels.map((found) => found.slice(1))).toEqual(
    [
      ['2', 'Polygon'],
      ['1', 'Line'],
      ['0', 'Point'],
    ].map(([number, name]) => [number, `geometry_type(@geometry)=&#39;${name}&#39; AND &#34;people&#34; &#62; 5`]),
  )
})

test('areas beside the points of a heat map keep their classes, and only points are clustered', () => {
  const mixed = { ...LAYER, geometry: 'mixed', color: CLASSES } as const
  const heat = qgisStyles({ ...mixed, draw: 'heat' })
  expect(heat.filter(({ geometry }) => geometry === 'Polygon')).toHaveLength(4)
  expect(heat.filter(({ geometry }) => geometry === 'Point').map(({ color }) => color)).toEqual(['#fde725'])
  const filters = [{ property: 'people', is: 'more', value: 5 }] as const
  expect(qgisStyles({ ...mixed, draw: 'cluster', filters })).toEqual(qgisStyles({ ...mixed, filters }))
})

test('names layers whose address QGIS does not keep', () => {
  const filters = [{ property: 'name', is: 'equal', value: 'A&B' }] as const
  const cluster = { ...LAYER, draw: 'cluster', filters } as const
  const fine = { ...LAYER, id: 'b', table: 'public.a & b', title: 'Fine', filters }
  const question = { ...LAYER, id: 'q', table: 'public.why?', title: 'Question' }
  const layers: VectorLayer[] = [fine, cluster, question]
  expect(mapDefinition('https://p.example.org', 'key', { ...MAP, layers }).unreadable).toEqual([
    'Places & "towns"',
    'Question',
  ])
})
