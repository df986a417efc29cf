import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { expect } from 'vitest'
import { TILE, areaUnderCurve, writeScenePair, type ScenePair } from './change-scenes.ts'
import { submit, until, type TestWorker } from './harness.ts'

/**
 * Embeds both dates of a pair, the second by the stretch of the first and everything else by default, and lets
 * `change_detection` rank them by default. Returns the area under the curve; every tile must be ranked.
 */
export async function rankChanges(worker: TestWorker, folder: string, pair: ScenePair): Promise<number> {
  const name = `${pair.kind}_${pair.type}_${pair.seed}`
  const { files, changed } = await writeScenePair(pair)
  for (const [i, bytes] of files.entries()) {
    const geotiffPath = `${name}_${i}.tif`
    await writeFile(join(folder, geotiffPath), bytes)
    const like = i === 0 ? {} : { scaleFrom: { table: `${name}_0` } }
    const body = { geotiffPath, tableName: `${name}_${i}`, modelName: BUILT_IN_MODEL, tileSize: TILE, ...like }
    const { status, body: record } = await submit(worker, 'createGeoEmbeddings', body)
    expect({ status, record }).toMatchObject({ status: 202 })
    expect(await until(worker, record.links.self, (job) => job.terminal, 110_000)).toMatchObject({
      status: 'success',
      error: null,
    })
  }
  const { rows } = await worker.db.database.query<{ id: string | number }>(
    `select id from geoembeddings.change_detection(table_name_1 => '${name}_0', table_name_2 => '${name}_1')`,
  )
  expect(rows).toHaveLength(pair.side ** 2)
  return areaUnderCurve(
    rows.map(({ id }) => Number(id)),
    changed,
  )
}
