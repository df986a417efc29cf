import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertTo, filesOf, removeFormats, zip } from '@terrane/testing/files'
import { afterAll, expect, test } from 'vitest'
import { nativeEngine, openFile } from '../src/index.ts'
import { gdalHere, readersHere } from '../src/testing/index.ts'

afterAll(removeFormats)

const features = Array.from({ length: 9 }, (_, i) => {
  const ring = [[i, 0], [i, 4], [i + 4, 4], [i, 0]] // prettier-ignore
  return { type: 'Feature', properties: { name: `n${i}` }, geometry: { type: 'Polygon', coordinates: [ring] } }
})
const GEOJSON = JSON.stringify({ type: 'FeatureCollection', features })

async function warningsOf(bytes: Buffer): Promise<readonly string[]> {
  const workdir = await mkdtemp(join(tmpdir(), 'terrane-short-'))
  try {
    const options = { workdir, engine: gdalHere, startReader: readersHere(), sourceSrs: 'EPSG:4326' }
    await using file = await openFile((path) => writeFile(path, bytes), options)
    for await (const { batch } of file.read()) void batch
    return file.warnings
      .filter(({ code }) => code === 'FILE_CUT_OFF')
      .flatMap(({ examples = [] }) => examples.map(String))
  } finally {
    await rm(workdir, { recursive: true })
  }
}

test.each([
  ['ESRI Shapefile', 'shp'],
  ['ESRI Shapefile', 'dbf'],
  ['MapInfo File', 'dat'],
  ['MapInfo File', 'id'],
  ['MapInfo File', 'map'],
])('a %s whose .%s breaks off says so', async (format, ending) => {
  const files = await filesOf(format, GEOJSON)
  expect(await warningsOf(zip(files))).toEqual([])
  const cut = files.map(({ name, data }) => ({
    name,
    data: name.endsWith(`.${ending}`) ? data.subarray(0, data.length - 20) : data,
  }))
  expect(await warningsOf(zip(cut))).toEqual([files.find(({ name }) => name.endsWith(`.${ending}`))!.name])
})

test('a geodatabase and a drawing that break off say so', async () => {
  const files = await filesOf('OpenFileGDB', GEOJSON)
  const at = (ending: number) =>
    zip(
      files.map(({ name, data }) => ({
        name: name.replace(/^.*\//, 'new.gdb/'),
        data: name.endsWith('a00000009.gdbtable') ? data.subarray(0, data.length - ending) : data,
      })),
    )
  expect(await warningsOf(at(0))).toEqual([])
  expect(await warningsOf(at(9))).toEqual(['a00000009.gdbtable'])
  const lines = GEOJSON.replaceAll('"Polygon"', '"LineString"').replaceAll(/\[\[(\[.*?\])\]\]/g, '[$1]')
  const drawing = await convertTo('DGN', lines.replaceAll(/"properties":\{[^}]*\}/g, '"properties":{}'))
  expect(await warningsOf(drawing)).toEqual([])
  expect(await warningsOf(drawing.subarray(0, drawing.length - 60))).toEqual(['data.dgn'])
})

test.each([
  ['GML', []],
  ['ODS', []],
])('text of a %s that breaks off is refused', async (format, options) => {
  const whole = await convertTo(format, GEOJSON, options, '.xsd')
  expect(await warningsOf(whole)).toEqual([])
  const cut = format === 'GML' ? whole.subarray(0, whole.length - 40) : whole.subarray(0, whole.length / 2)
  await expect(warningsOf(cut)).rejects.toMatchObject({ code: expect.stringMatching(/CONVERSION_FAILED|ZIP_REFUSED/) })
})

// GDAL by itself is silent after a thousand messages, also of damage, and would call this a file without rows.
test('text that breaks off after more messages than GDAL gives by itself is refused', async () => {
  const unreadable = '<gml:featureMember><t><g><gml:Point><gml:pos>x</gml:pos></gml:Point></g></t></gml:featureMember>'
  const text = `<c xmlns:gml="http://www.opengis.net/gml">${unreadable.repeat(1100)}`
  await expect(warningsOf(Buffer.from(text))).rejects.toMatchObject({
    code: 'CONVERSION_FAILED',
    message: expect.stringContaining('XML parsing of GML file failed'),
  })
})

test.skipIf(process.platform === 'win32')('an installed GDAL may say as much before the reason, too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-fake-gdal-'))
  const says =
    'i=0; while [ $((i += 1)) -le "${CPL_MAX_ERROR_REPORTS:-1000}" ]; do [ $i -gt 1100 ] && echo "ERROR 1: the reason" >&2 && break; done'
  for (const [name, script] of Object.entries({ ogr2ogr: 'exit 0', ogrinfo: `${says}; exit 1` }))
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const conversion = { folder, file: 'a.dxf', driver: 'DXF', openOptions: [], layer: null, options: [] } as const
  const engine = nativeEngine(join(folder, 'ogr2ogr'))
  const converted = engine.convert({ ...conversion, target: 'a.gpkg' }, folder, AbortSignal.timeout(60_000))
  try {
    await expect(converted).rejects.toThrow('the reason')
  } finally {
    await rm(folder, { recursive: true })
  }
})
