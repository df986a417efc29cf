import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openGeoJson } from './geojson.ts'

test('the system that a GeoJSON names is known by its usual names', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-geojson-'))
  const path = join(folder, 'system.geojson')
  const sridOf = async (crs: unknown) => {
    const features = [{ type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [1, 2] } }]
    await writeFile(path, JSON.stringify({ type: 'FeatureCollection', crs, features }))
    return openGeoJson(path).layers[0]!.srid
  }
  const named = (name: string) => ({ type: 'name', properties: { name } })
  const known: Readonly<Record<string, number>> = {
    'EPSG:28992': 28992,
    'urn:ogc:def:crs:EPSG::28992': 28992,
    'urn:ogc:def:crs:EPSG:6.9:4326': 4326,
    'urn:x-ogc:def:crs:EPSG:25832': 25832,
    'http://www.opengis.net/def/crs/EPSG/0/3857': 3857,
    'http://www.opengis.net/def/crs/OGC/1.3/CRS84': 4326,
    'urn:ogc:def:crs:OGC:1.3:CRS84': 4326,
    'urn:ogc:def:crs:ESRI::102100': 3857,
  }
  for (const [name, srid] of Object.entries(known)) expect(await sridOf(named(name)), name).toBe(srid)
  expect(await sridOf({ type: 'EPSG', properties: { code: 2154 } })).toBe(2154)
  // The default system is that of RFC 7946; an unknown one gives null.
  expect(await sridOf(undefined)).toBe(4326)
  expect(await sridOf(null)).toBe(4326)
  expect(await sridOf(named('LOCAL:7'))).toBeNull()
  expect(await sridOf({ type: 'link', properties: { href: 'http://example.com/crs/7' } })).toBeNull()
  await rm(folder, { recursive: true })
})

test('columns are in the order of the file, and numbers that are written as fractions are no whole ones', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-geojson-'))
  const path = join(folder, 'order.geojson')
  const first = '{"type":"Feature","properties":{"name":"a","width":3.0,"lanes":2},"geometry":null}'
  const second = '{"type":"Feature","id":"x","properties":{"name":"b","lanes":1.5},"geometry":null}'
  await writeFile(path, `{"type":"FeatureCollection","features":[${first},${second}]}`)
  expect(openGeoJson(path).layers[0]!.fields).toEqual([
    { name: 'name', type: 'text' },
    { name: 'width', type: 'float8' },
    { name: 'lanes', type: 'float8' },
    { name: 'id', type: 'text' },
  ])
  await rm(folder, { recursive: true })
})

test('words of Python and JavaScript for numbers that JSON does not have are read as they mean', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-geojson-'))
  const path = join(folder, 'words.geojson')
  const [first, second] = ['{"a":NaN,"b":-Infinity,"c":7,"d":"NaN, \\"Infinity"}', '{"a":1,"b":2.5,"c":NaN,"d":NaN}']
  const point = '{"type":"Point","coordinates":[1,2]}'
  const features = [first, second].map((all) => `{"type":"Feature","properties":${all},"geometry":${point}}`)
  await writeFile(path, `{"type":"FeatureCollection","features":[${features.join(',')}]}`)
  const reader = openGeoJson(path)
  expect(reader.layers[0]!.fields.map(({ type }) => type)).toEqual(['float8', 'float8', 'float8', 'text'])
  for await (const { columns } of reader.read(0)) {
    expect(columns).toEqual([
      [NaN, 1],
      [-Infinity, 2.5],
      [7, NaN],
      ['NaN, "Infinity', 'NaN'],
    ])
  }
  for (const word of ['nan', '-NaN', 'NaNs']) {
    await writeFile(path, `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":${word}}}]}`)
    expect(() => openGeoJson(path)).toThrow('no JSON')
  }
  await rm(folder, { recursive: true })
})
