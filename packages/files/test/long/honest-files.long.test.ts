// Slow: reads millions of values.
import { writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { expect, test } from 'vitest'
import { openFile } from '../../src/index.ts'

const ROWS = 1_000_000
const COLUMNS = 30
const POINTS = 400_000

/** Rows that are all equal, in one group. */
function equalRows(): Buffer {
  const columnData = Array.from({ length: COLUMNS }, (_, c) => ({
    name: `c${c}`,
    data: Array.from({ length: ROWS }, () => (c % 2 === 0 ? c : 'the same text')),
    type: c % 2 === 0 ? ('INT32' as const) : ('STRING' as const),
  }))
  return Buffer.from(parquetWriteBuffer({ columnData, rowGroupSize: ROWS }))
}

/** One polygon, packed. */
function largePolygon(): Buffer {
  const at = (i: number) => {
    const angle = ((i % POINTS) / POINTS) * 2 * Math.PI
    return [10 + Math.cos(angle), 48 + Math.sin(angle)]
  }
  const ring = Array.from({ length: POINTS + 1 }, (_, i) => at(i))
  const geometry = { type: 'Polygon', coordinates: [ring] }
  return gzipSync(JSON.stringify({ type: 'Feature', properties: { a: 1 }, geometry }))
}

test.each([
  ['a million equal rows of Parquet', equalRows, ROWS],
  ['a polygon of many points in gzip', largePolygon, 1],
])('%s are within the memory that a small file may have', async (_, make, rows) => {
  const bytes = make()
  await using file = await openFile((path) => writeFile(path, bytes))
  let found = 0
  for await (const { batch } of file.read()) found += batch.rows
  expect(found).toBe(rows)
})
