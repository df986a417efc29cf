import { seededRandom, wkbOfGeoJson, type GeoJsonGeometry } from '@terrane/core'
import { expect, test } from 'vitest'
import { FlatCoordinates } from './flat-coordinates.ts'
import { wkbOfWkt } from './wkt.ts'

/** Numbers as programs write them: short and long ones, whole ones, fractions of any length. */
function numberTexts(count: number): string[] {
  const random = seededRandom(7)
  const digits = (length: number) => Array.from({ length }, () => Math.floor(random() * 10)).join('')
  return Array.from({ length: count }, (_, i) => {
    const whole = String(Number(digits(1 + (i % 9))))
    const fraction = i % 4 === 0 ? '' : `.${digits(1 + Math.floor(random() * 24))}`
    return `${random() < 0.5 ? '-' : ''}${whole}${fraction}`
  }).concat(['0', '-0', '-0.0', '0.1', '900719925474099.35', '123456789012345', '0.00000000000000000000001'])
}

test('numbers of coordinates are what the text of each says, to the last bit', () => {
  const numbers = numberTexts(20_000)
  const flat = new FlatCoordinates()
  const wrong: string[] = []
  for (let i = 1; i < numbers.length; i++) {
    const pair = [numbers[i - 1]!, numbers[i]!]
    const wanted = wkbOfGeoJson({ type: 'Point', coordinates: pair.map(Number) })!
    const text = Buffer.from(`[ ${pair.join(',\t')} ]`)
    const isRead = flat.read(text, 0) === text.length
    const made = [wkbOfWkt(`POINT (${pair.join(' ')})`), isRead ? flat.wkbOf('Point') : null]
    if (made.some((wkb) => wkb === null || Buffer.compare(wkb, wanted) !== 0)) wrong.push(pair.join(' '))
  }
  expect(wrong).toEqual([])
})

test.each<[string, GeoJsonGeometry]>([
  ['a point', { type: 'Point', coordinates: [1, 2.5] }],
  ['a point with a height', { type: 'Point', coordinates: [1, 2.5, -3] }],
  ['a line', { type: 'LineString', coordinates: [[1, 2], [3, 4], [5, 6]] }], // prettier-ignore
  ['an area with a hole', { type: 'Polygon', coordinates: [[[0, 0], [9, 0], [9, 9], [0, 0]], [[1, 1], [2, 1], [2, 2], [1, 1]]] }], // prettier-ignore
  ['points', { type: 'MultiPoint', coordinates: [[1, 2], [3, 4]] }], // prettier-ignore
  ['lines', { type: 'MultiLineString', coordinates: [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [0, 1, 2]]] }], // prettier-ignore
  ['areas', { type: 'MultiPolygon', coordinates: [[[[0, 0], [9, 0], [9, 9], [0, 0]]], [[[1, 1], [2, 1], [2, 2], [1, 1]], [[3, 3], [4, 3], [4, 4], [3, 3]]]] }], // prettier-ignore
])('%s is the same by its text as by its lists', (_, geometry) => {
  const flat = new FlatCoordinates()
  for (const space of [undefined, 2]) {
    const text = Buffer.from(JSON.stringify(geometry.coordinates, null, space))
    expect(flat.read(text, 0)).toBe(text.length)
    expect(flat.wkbOf(geometry.type)).toEqual(wkbOfGeoJson(geometry))
    expect(flat.wkbOf(geometry.type === 'Polygon' ? 'LineString' : 'Polygon')).not.toEqual(wkbOfGeoJson(geometry))
  }
})

test.each([
  '[]',
  '[[]]',
  '[1]',
  '[1,2,3,4]',
  '[[1,2],[3,4,5]]',
  '[[1,2],3]',
  '[1,[2]]',
  '[1,"2"]',
  '[01,2]',
  '[1.,2]',
  '[.1,2]',
  '[+1,2]',
  '[1e3,2]',
  '[1,2',
  '[[1,2],]',
  '[1,null]',
  '1',
  '[-,1]',
  '[1,1234567890123456]',
])('%s is left to the parser of JSON', (text) => {
  expect(new FlatCoordinates().read(Buffer.from(text), 0)).toBe(-1)
})

test.each(['POINT (1.2.3 4)', 'POINT (- 1)', 'POINT (. 1)', 'POINT (1-2 3)', 'POINT (1 +)', 'POINT (1 2 3 4 5)'])(
  '%s is no geometry',
  (text) => {
    expect(wkbOfWkt(text)).toBeNull()
  },
)

test.each([
  ['POINT (1. .5)', [1, 0.5]],
  ['POINT (+1 -.5)', [1, -0.5]],
  ['POINT (1e2 2E-1)', [100, 0.2]],
  ['POINT(-1.5e+1 7)', [-15, 7]],
])('%s is one', (text, coordinates) => {
  expect(wkbOfWkt(text)).toEqual(wkbOfGeoJson({ type: 'Point', coordinates }))
})
