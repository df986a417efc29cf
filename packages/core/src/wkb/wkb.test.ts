import { expect, test } from 'vitest'
import { wkbProblem } from './check-wkb.ts'
import { toEwkb, wkbHead } from './wkb.ts'
import { geoJsonType, wkbOfGeoJson } from './geojson.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const line = { type: 'LineString', coordinates: [[1, 2, 3], [4, 5]] } // prettier-ignore

// Expected texts are PostGIS's: select encode(st_asewkb(st_geomfromewkt('SRID=4326;POINT(1 2)'), 'hex').
test('a point gets its reference system, in either byte order', () => {
  const point = wkbOfGeoJson({ type: 'Point', coordinates: [1, 2] })!
  expect(hex(toEwkb(point, 4326, true))).toBe('0101000020e6100000000000000000f03f0000000000000040')
  const big = Buffer.from('00000000013ff00000000000004000000000000000', 'hex')
  expect(hex(toEwkb(big, 4326, true))).toBe('0020000001000010e63ff00000000000004000000000000000')
})

test('a line becomes a collection of one where that is asked for, and its own reference system gives way', () => {
  const wkb = wkbOfGeoJson({ type: 'LineString', coordinates: [[1, 2], [3, 4]] })! // prettier-ignore
  const single = toEwkb(wkb, 3857, false)
  const positions = '02000000000000000000f03f000000000000004000000000000008400000000000001040'
  expect(hex(single)).toBe(`0102000020110f0000${positions}`)
  expect(hex(toEwkb(single, 4326, true))).toBe(`0105000020e6100000010000000102000000${positions}`)
})

test('heights are told by type, and missing ones are 0', () => {
  expect(geoJsonType(line)).toBe(1002)
  const wkb = wkbOfGeoJson(line)!
  expect(wkbHead(wkb)).toEqual({ code: 2, hasZ: true, hasM: false })
  expect(new DataView(wkb.buffer, wkb.byteOffset).getFloat64(wkb.length - 8, true)).toBe(0)
  expect(wkbHead(toEwkb(wkb, 4326, true))).toEqual({ code: 5, hasZ: true, hasM: false })
})

test('what is no geometry is none', () => {
  expect(wkbHead(Buffer.from('02010000', 'hex'))).toBeNull()
  expect(wkbHead(Buffer.from('01630000000000', 'hex'))).toBeNull()
  expect(wkbOfGeoJson({ type: 'Point', coordinates: ['1', 2] })).toBeNull()
  expect(wkbOfGeoJson({ type: 'Circle', coordinates: [1, 2] })).toBeNull()
})

test('what PostGIS would refuse is found, and what it takes is not', () => {
  const of = (type: string, coordinates: unknown) => wkbProblem(wkbOfGeoJson({ type, coordinates })!)
  const ring = [[0, 0], [1, 0], [1, 1], [0, 0]] // prettier-ignore
  expect(of('Polygon', [ring])).toBeNull()
  expect(of('LineString', [])).toBeNull()
  expect(of('LineString', [[1, 2]])).toBe('short line')
  expect(of('MultiLineString', [[[1, 2], [3, 4]], [[1, 2]]])).toBe('short line') // prettier-ignore
  expect(of('Polygon', [ring.slice(0, 3)])).toBe('open ring')
  expect(of('Polygon', [[[0, 0], [1, 1], [0, 0]]])).toBe('short ring') // prettier-ignore
  expect(of('Polygon', [[]])).toBe('short ring')
  const straight = wkbOfGeoJson({ type: 'LineString', coordinates: [[1, 2], [3, 4]] })! // prettier-ignore
  expect(wkbProblem(straight.subarray(0, 30))).toBe('damaged')
  const collection = Buffer.concat([
    Buffer.from('010500000001000000', 'hex'),
    Buffer.from('0108000000', 'hex'),
    straight.subarray(5),
  ])
  expect(wkbProblem(collection)).toBe('odd part')
})
