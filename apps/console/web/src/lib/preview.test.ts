import { expect, test } from 'vitest'
import { pointsIn } from './preview-csv.ts'
import { featuresIn } from './preview-geojson.ts'
import { previewOf } from './preview.ts'

const at = (lng: number, lat: number, name = 'a') => ({
  type: 'Feature' as const,
  properties: { name },
  geometry: { type: 'Point' as const, coordinates: [lng, lat] },
})
const collection = (...features: unknown[]) => JSON.stringify({ type: 'FeatureCollection', features })

test('features of a text that is cut off end with the last whole one', () => {
  const text = collection(at(1, 2, 'a "}{[" \\'), at(3, 4), at(5, 6))
  expect(featuresIn(text, 10)).toEqual([at(1, 2, 'a "}{[" \\'), at(3, 4), at(5, 6)])
  expect(featuresIn(text.slice(0, -60), 10)).toEqual([at(1, 2, 'a "}{[" \\'), at(3, 4)])
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

test('rows with a latitude and a longitude are points', () => {
  const rows = 'name;lat;lon\r\n"a ""b""; c";49,5;6\r\nd;;7\r\ne;50;6.5'
  const found = pointsIn(rows, 10, true)
  expect(
    found.map(({ properties, geometry }) => [properties?.['name'], (geometry as GeoJSON.Point).coordinates]),
  ).toEqual([
    ['a "b"; c', [6, 49.5]],
    ['e', [6.5, 50]],
  ])
  expect(pointsIn(rows, 10, false)).toHaveLength(1)
  expect(pointsIn('x,y\n2600000,1200000', 10, true)).toEqual([])
  expect(pointsIn('name,people\na,1', 10, true)).toEqual([])
  expect(pointsIn('', 10, true)).toEqual([])
})

test('a file of another format has none', async () => {
  expect(await previewOf(new File(['PK'], 'a.zip'))).toEqual([])
  expect(await previewOf(new File([collection(at(1, 2))], 'a.geojson'))).toHaveLength(1)
  expect(await previewOf(new File(['lat,lng\n1,2'], 'a.csv'))).toHaveLength(1)
})
