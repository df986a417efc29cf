import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestDatabase } from '@terrane/database/testing'
import { expect, test } from 'vitest'
import { exportFile } from './export-file.ts'

test('GeoJSON has whole numbers beyond 64 bits as fractions, and exponents in arrays: GDAL would cut them otherwise', async () => {
  await using db = await openTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'terrane-wide-'))
  try {
    await db.database.query(`create table wide (id int4, free numeric, many float8[]);
      insert into wide values (1, 9223372036854775807, '{1e300}'), (2, 9223372036854775808, '{0.5}')`)
    const path = join(folder, 'wide.geojsonl')
    await exportFile(db.database, 'wide', 'GeoJSONSeq', path)
    const text = await readFile(path, 'utf8')
    expect(text).toContain('"free":9223372036854775807,"many":[1e+300]')
    expect(text).toContain('"free":9223372036854775808.0,"many":[0.5]')
  } finally {
    await rm(folder, { recursive: true })
  }
})
