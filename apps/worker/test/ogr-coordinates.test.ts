import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { migrate } from '@terrane/database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importFile, type ImportResult } from './import-file.ts'
import { convertTo, removeFormats } from '@terrane/testing/files'

let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
  await migrate(db.database, ['control', 'project'])
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await removeFormats()
})

const load = (text: string | Buffer, options: object = {}) =>
  importFile(db.database, typeof text === 'string' ? Buffer.from(text) : text, options)
const collection = (features: readonly object[], members: object = {}) =>
  JSON.stringify({ type: 'FeatureCollection', ...members, features })
const pointAt = (...coordinates: number[]) => ({
  type: 'Feature',
  properties: { name: 'A' },
  geometry: { type: 'Point', coordinates },
})

/** Longitude and latitude of all rows of the first table. */
async function placesOf({ tables }: ImportResult): Promise<(readonly number[] | null)[]> {
  const { rows } = await db.database.query<{ x: number | null; y: number | null }>(
    `select st_x(st_centroid(st_transform(geom, 4326))) as x, st_y(st_centroid(st_transform(geom, 4326))) as y
     from ${tables[0]!.table} order by 1 nulls last, 2`,
  )
  return rows.map(({ x, y }) => (x === null || y === null ? null : [x, y].map((degrees) => Number(degrees.toFixed(4)))))
}

describe(`where rows lie (${testLane()})`, () => {
  test('metres that pass for degrees are a warning with the rows and the remedy', async () => {
    const made = await load('name,x,y\nA,500000,5700000\nB,13.4,52.5\nC,13.4,91\n')
    expect(made.warnings).toMatchObject([{ code: 'COORDINATES_OFF_GLOBE', count: 2, examples: [1, 3] }])
    expect((await load('name,lon,lat\nA,180,-90\nB,-180,90\n')).warnings).toEqual([])
    const told = await load(collection([pointAt(155_000, 463_000)]), { sourceSrs: 'EPSG:28992' })
    expect(told.warnings).toEqual([])
    expect(await placesOf(told)).toEqual([[5.3872, 52.1552]])
    const projected = await load('name,x,y\nA,155000,463000\n', { sourceSrs: 'EPSG:28992', targetSrs: 'EPSG:28992' })
    expect(projected.warnings).toEqual([])
    await expect(load('x,y\n500000,5700000\n', { strict: true })).rejects.toMatchObject({ code: 'WARNINGS_REFUSED' })
  })

  test('a GeoJSON whose system is not known wants sourceSrs', async () => {
    const other = collection([pointAt(1, 2)], { crs: { type: 'name', properties: { name: 'LOCAL:7' } } })
    await expect(load(other)).rejects.toMatchObject({ code: 'SOURCE_SRS_NEEDED' })
    expect(await placesOf(await load(other, { sourceSrs: 'EPSG:4326' }))).toEqual([[1, 2]])
  })

  test('a workbook has points where its columns hold coordinates', async () => {
    const sheet = collection([
      {
        type: 'Feature',
        properties: { name: 'A', Latitude: 52.5, Longitude: 13.4, Rechts: 5, Hoch: 50 },
        geometry: null,
      },
      { type: 'Feature', properties: { name: 'B' }, geometry: null },
    ])
    for (const format of ['XLSX', 'ODS']) {
      const file = await convertTo(format, sheet)
      const made = await load(file)
      expect(await placesOf(made), format).toEqual([[13.4, 52.5], null])
      expect(made.tables[0]).toMatchObject({ geometry_type: 'Point', rows: 2 })
      expect(await placesOf(await load(file, { csv: { x: 'Rechts', y: 'Hoch' } }))).toEqual([[5, 50], null])
      await expect(load(file, { csv: { x: 'nope', y: 'Hoch' } })).rejects.toMatchObject({ code: 'CSV_COLUMNS_UNKNOWN' })
    }
  })

  test('what is asked for and says nothing about the format is told of', async () => {
    const made = await load(collection([pointAt(1, 2)]), { csv: { x: 'a', y: 'b' }, encoding: 'latin1' })
    expect(made.warnings).toMatchObject([{ code: 'OPTIONS_UNUSED', examples: ['csv.x', 'csv.y', 'encoding'] }])
  })
})
