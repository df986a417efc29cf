import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReader } from './open-reader.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-points-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Opens a Parquet file with a column of geometries, or only columns of numbers. */
async function open(hasGeometry: boolean, csv: { x?: string; y?: string }) {
  const path = join(folder, 'table.parquet')
  const columnData = [
    { name: 'lon', data: [1], type: 'DOUBLE' as const },
    { name: 'lat', data: [2], type: 'DOUBLE' as const },
    ...(hasGeometry ? [{ name: 'geometry', data: ['POINT(5 6)'], type: 'STRING' as const }] : []),
  ]
  await writeFile(path, new Uint8Array(parquetWriteBuffer({ columnData })))
  const reader = await openReader({ path, format: 'Parquet', srid: 4326, csv })
  return { layer: reader.layers[0]!, warnings: reader.takeWarnings() }
}

test('columns of coordinates that are named for a table with geometries are a warning', async () => {
  for (const csv of [
    { x: 'lon', y: 'lat' },
    { x: 'nope', y: 'lat' },
  ]) {
    const { layer, warnings } = await open(true, csv)
    expect(layer).toMatchObject({ hasGeometry: true, fields: [{ name: 'lon' }, { name: 'lat' }] })
    expect(warnings).toMatchObject([{ code: 'OPTIONS_UNUSED', count: 2, examples: ['csv.x', 'csv.y'] }])
  }
  expect((await open(false, { x: 'lon', y: 'lat' })).warnings).toEqual([])
})

test('columns of coordinates that a table without geometries lacks are an error', async () => {
  await expect(open(false, { x: 'nope', y: 'lat' })).rejects.toMatchObject({ code: 'CSV_COLUMNS_UNKNOWN' })
})

test('texts of coordinates with letters of the other axis are said', async () => {
  const path = join(folder, 'swapped.parquet')
  const columnData = [
    { name: 'x', data: [`48°08'14"N`], type: 'STRING' as const },
    { name: 'y', data: [`11°34'31"E`], type: 'STRING' as const },
  ]
  await writeFile(path, new Uint8Array(parquetWriteBuffer({ columnData })))
  const reader = await openReader({ path, format: 'Parquet' })
  expect(reader.layers).toMatchObject([{ hasGeometry: false }])
  expect(reader.takeWarnings()).toMatchObject([{ code: 'COORDINATES_UNREADABLE', examples: ['x', 'y'] }])
})
