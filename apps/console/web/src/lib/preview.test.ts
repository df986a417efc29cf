import { expect, test } from 'vitest'
import { pointsIn } from './preview-csv.ts'
import { featuresIn } from './preview-geojson.ts'
import { previewOf } from './preview.ts'

const at = (lng: number, lat: number, properties: object = {}) => ({ ...point(lng, lat), properties })
const point = (lng: number, lat: number) => feature('Point', [lng, lat])
const feature = (type: string, coordinates: unknown) => ({
  type: 'Feature',
  properties: {},
  geometry: { type, coordinates },
})
const collection = (...features: unknown[]) => JSON.stringify({ type: 'FeatureCollection', features })

test('features of a text that is cut off end with the last whole one', () => {
  const text = collection(at(1, 2, { name: 'a "}{[" \\' }), at(3, 4), at(5, 6))
  const first = at(1, 2, { name: 'a "}{[" \\' })
  expect(featuresIn(text, 10)).toEqual([first, point(3, 4), point(5, 6)])
  expect(featuresIn(text.slice(0, -60), 10)).toEqual([first, point(3, 4)])
  expect(featuresIn(text, 2)).toHaveLength(2)
  expect(featuresIn(text.slice(0, 20), 2)).toEqual([])
})

test('features on lines of their own, and one alone', () => {
  expect(featuresIn(`${JSON.stringify(at(1, 2))}\n${JSON.stringify(at(3, 4))}\n`, 10)).toHaveLength(2)
  expect(featuresIn(JSON.stringify(at(1, 2)), 10)).toHaveLength(1)
})

test('positions that are not degrees have no preview', () => {
  const name = (of: string) => ({ type: 'name', properties: { name: of } })
  const text = (of: string) => JSON.stringify({ type: 'FeatureCollection', crs: name(of), features: [at(1, 2)] })
  expect(featuresIn(text('urn:ogc:def:crs:EPSG::2169'), 10)).toEqual([])
  expect(featuresIn(text('urn:ogc:def:crs:OGC:1.3:CRS84'), 10)).toHaveLength(1)
  expect(featuresIn(collection(at(77_000, 90_000)), 10)).toEqual([])
  expect(featuresIn(collection({ ...at(1, 2), geometry: null }, 7, 'x', { a: [1] }), 10)).toEqual([])
})

test('what a map cannot draw has no preview', () => {
  const bad = [
    feature('Polygon', [1, 2]),
    feature('Polygon', [
      [
        [1, 2],
        [3, 4],
        [1, 2],
      ],
      null,
    ]),
    feature('LineString', [
      [1, 2],
      [1e300, 2],
    ]),
    feature('LineString', []),
    feature('Point', ['1', '2']),
    feature('constructor', [1, 2]),
    feature(
      'Point',
      Array.from({ length: 500 }).reduce<unknown[]>((inner) => [inner], []),
    ),
  ]
  expect(featuresIn(collection(...bad, at(1, 2)), 10)).toEqual([point(1, 2)])
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
  expect(featuresIn(collection(at(1, 2, { name: 'a' })).replace('"a"', deep), 10)).toEqual([point(1, 2)])
})

test('rows with a latitude and a longitude are points', () => {
  const rows = 'name;lat;lon\r\n"a ""b""; c";49,5;6\r\nd;;7\r\ne;50;6.5'
  const found = pointsIn(rows, 10, true)
  expect(found).toEqual([
    at(6, 49.5, { name: 'a "b"; c', lat: '49,5', lon: 6 }),
    at(6.5, 50, { name: 'e', lat: 50, lon: 6.5 }),
  ])
  const codes = pointsIn('lat,lon,code,n,empty\n1,2,0123,-1.5,', 10, true)
  expect(codes[0]?.properties).toEqual({ lat: 1, lon: 2, code: '0123', n: -1.5, empty: null })
  expect(pointsIn(rows, 10, false)).toHaveLength(1)
  expect(pointsIn('x,y\n2600000,1200000', 10, true)).toEqual([])
  expect(pointsIn('name,people\na,1', 10, true)).toEqual([])
  expect(pointsIn('', 10, true)).toEqual([])
  expect(pointsIn('lat,lon\n1,2\n1e400,2\n3,4\n5,6', 2, true)).toMatchObject(
    [point(2, 1), point(4, 3)].map(({ geometry }) => ({ geometry })),
  )
  expect(pointsIn(`lat,lon${',a'.repeat(5000)}\n1,2`, 10, true)).toEqual([])
})

test('a file of another format has none', async () => {
  expect(await previewOf(new File(['PK'], 'a.zip'))).toEqual([])
  expect(await previewOf(new File([collection(at(1, 2))], 'a.geojson'))).toHaveLength(1)
  expect(await previewOf(new File(['lat,lng\n1,2'], 'a.csv'))).toHaveLength(1)
})
