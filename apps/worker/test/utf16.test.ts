import { gzipSync } from 'node:zlib'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importFile } from './import-file.ts'
import { zip } from '@terrane/testing/files'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db[Symbol.asyncDispose]())

const NAME = 'Zoë 漢字 \u{1f600}'
const XML = '<?xml version="1.0" encoding="UTF-16"?>\r\n'
const TEXTS = {
  CSV: `name,lon,lat\r\n"${NAME}",1,2\r\n`,
  GeoJSON: JSON.stringify({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', properties: { name: NAME }, geometry: { type: 'Point', coordinates: [1, 2] } }],
  }),
  KML: `${XML}<kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><name>${NAME}</name><Point><coordinates>1,2</coordinates></Point></Placemark></Document></kml>`,
  GPX: `${XML}<gpx version="1.1" creator="a" xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="2" lon="1"><name>${NAME}</name></wpt></gpx>`,
  GML: `${XML}<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs" xmlns:gml="http://www.opengis.net/gml"><gml:featureMember><spot fid="s.1"><place><gml:Point srsName="EPSG:4326"><gml:coordinates>1,2</gml:coordinates></gml:Point></place><name>${NAME}</name></spot></gml:featureMember></wfs:FeatureCollection>`,
} as const

function inUtf16(text: string, isLittle: boolean): Buffer {
  const bytes = Buffer.from(text, 'utf16le')
  return isLittle ? bytes : bytes.swap16()
}

const expectRow = async (file: Buffer, options: object = {}) => {
  const { tables, warnings } = await importFile(db.database, file, options)
  const { rows } = await db.database.query(`select name, st_astext(geom) as geom from ${tables[0]!.table}`)
  expect(rows).toEqual([{ name: NAME, geom: 'POINT(1 2)' }])
  expect(warnings).toEqual([])
}

describe.each(Object.keys(TEXTS) as (keyof typeof TEXTS)[])('%s in UTF-16', (format) => {
  test.each([
    ['little-endian', true, '\u{feff}'],
    ['little-endian without a mark', true, ''],
    ['big-endian', false, '\u{feff}'],
    ['big-endian without a mark', false, ''],
  ])('is read as what it says, %s', async (_, isLittle, mark) => {
    await expectRow(inUtf16(mark + TEXTS[format], isLittle))
  })
})

test('a text in UTF-16 may be packed, and named as such', async () => {
  const text = inUtf16(TEXTS.CSV, true)
  await expectRow(gzipSync(text))
  await expectRow(zip([{ name: 'a.csv', data: text }]))
  await expectRow(text, { encoding: 'utf-16le' })
})

test('a declaration of UTF-16 does not make a text in UTF-8 one', async () => {
  await expectRow(Buffer.from(TEXTS.KML))
})

test('a character across two pieces of the file stays whole', async () => {
  const rows = `${'x'.repeat((1 << 15) - 20)}\u{1f600},1,2\r\n`.repeat(3)
  const { tables } = await importFile(db.database, inUtf16(`name,lon,lat\r\n${rows}`, true))
  const { rows: found } = await db.database.query(`select right(name, 1) as last from ${tables[0]!.table}`)
  expect(found).toEqual(Array.from({ length: 3 }, () => ({ last: '\u{1f600}' })))
})
