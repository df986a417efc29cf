import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { expect } from 'vitest'
import { TILE, writeSceneSeries } from './change-scenes.ts'
import { submit, until, type TestWorker } from './harness.ts'

/** How well `change_series` dates changes. */
export interface DatedChanges {
  readonly changed: number
  /** Changed tiles whose break is on the right date; the date after it where clouds hide the right one. */
  readonly dated: number
  /** Changed tiles among as many of the most certain breaks. */
  readonly ranked: number
}

const DAYS = ['2024-05-03', '2024-06-12', '2024-08-01', '2024-09-15', '2025-04-20', '2025-06-30']

/** Embeds six dates as one collection by default, and compares the breaks of its places with the injected ones. */
export async function dateChanges(
  worker: TestWorker,
  folder: string,
  scene: { readonly seed: number; readonly side: number },
): Promise<DatedChanges> {
  const tableName = `series_${scene.seed}`
  const { files, breaks } = await writeSceneSeries(scene)
  const sources = DAYS.map((day, i) => ({ geotiffPath: `${tableName}_${i}.tif`, datetime: `${day}T10:00:00Z` }))
  for (const [i, { geotiffPath }] of sources.entries()) await writeFile(join(folder, geotiffPath), files[i]!)
  const body = { sources, tableName, modelName: BUILT_IN_MODEL, tileSize: TILE }
  const { status, body: record } = await submit(worker, 'createGeoEmbeddings', body)
  expect({ status, record }).toMatchObject({ status: 202 })
  expect(await until(worker, record.links.self, (job) => job.terminal, 110_000)).toMatchObject({ status: 'success' })
  const { rows } = await worker.db.database.query<{ tile: number; found: string; days: string[] }>(
    `select (t.py / ${TILE}) * ${scene.side} + t.px / ${TILE} as tile, s.break_date::text as found,
       array(select (c.datetime at time zone 'UTC')::date::text from geoembeddings.${tableName} o
         join geoembeddings.embedding_sources c on c.table_name = $1 and c.source = (o.id >> 32)::integer
         where o.px = t.px and o.py = t.py order by 1) as days
     from geoembeddings.change_series(table_name => $1) with ordinality s join geoembeddings.${tableName} t on t.id = s.id order by s.ordinality`,
    [tableName],
  )
  const right = rows.filter(({ tile, found, days }) => {
    const date = breaks.get(tile)
    return date !== undefined && found === days.find((day) => day >= DAYS[date]!)
  })
  const most = rows.slice(0, breaks.size).filter(({ tile }) => breaks.has(tile))
  return { changed: breaks.size, dated: right.length, ranked: most.length }
}
