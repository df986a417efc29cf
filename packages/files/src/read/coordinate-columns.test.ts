import { expect, test } from 'vitest'
import { coordinateColumns } from './coordinate-columns.ts'

test('two columns that are called as coordinates are, in any order', () => {
  for (const [y, x] of [
    ['lat', 'lon'],
    ['Latitude', 'LONGITUDE'],
    ['Latitud', 'Longitud'],
    ['Breitengrad', 'Längengrad'],
    ['широта', 'долгота'],
    ['纬度', '经度'],
    ['decimalLatitude', 'decimalLongitude'],
    ['stop_lat', 'stop_lon'],
    ['GPS Latitude (°)', 'GPS Longitude (°)'],
    ['centroidlatitude', 'centroidlongitude'],
    ['POINT_Y', 'POINT_X'],
    ['Northing', 'Easting'],
    ['y', 'x'],
  ]) {
    expect(coordinateColumns(['name', y!, 'k', x!]), y).toEqual({ x: 3, y: 1 })
    expect(coordinateColumns([x!, y!]), x).toEqual({ x: 0, y: 1 })
  }
})

test('degrees come before metres, a pair before one with other words, and both columns belong together', () => {
  expect(coordinateColumns(['x', 'y', 'lat', 'lon'])).toEqual({ x: 3, y: 2 })
  expect(coordinateColumns(['start_lat', 'start_lng', 'lat', 'lng'])).toEqual({ x: 3, y: 2 })
  expect(coordinateColumns(['x', 'lat', 'stop_lat', 'stop_lon'])).toEqual({ x: 3, y: 2 })
})

test('what does not stand out is named, and plain words are no coordinates', () => {
  expect(coordinateColumns(['start_lat', 'start_lng', 'end_lat', 'end_lng', 'id'])).toEqual({
    doubtful: ['start_lat', 'start_lng', 'end_lat', 'end_lng'],
  })
  expect(coordinateColumns(['route_short_name', 'route_long_name'])).toEqual({ doubtful: [] })
  expect(coordinateColumns(['name', 'lon'])).toEqual({ doubtful: ['lon'] })
  expect(coordinateColumns(['lat', 'easting'])).toEqual({ doubtful: ['lat', 'easting'] })
  expect(coordinateColumns(['flat', 'plate', 'belong', 'Breite', 'xylophone'])).toMatchObject({ doubtful: [] })
})

test('columns that are named are taken, and one alone is joined by the column with a usual name', () => {
  expect(coordinateColumns(['Rechts', 'Hoch', 'lat', 'lon'], { x: 'rechts', y: 'HOCH' })).toEqual({ x: 0, y: 1 })
  expect(coordinateColumns(['Rechts', 'northing'], { x: 'Rechts' })).toEqual({ x: 0, y: 1 })
  expect(coordinateColumns(['lat', 'lon'], { x: 'nope', y: 'lat' })).toEqual({ doubtful: [] })
})
