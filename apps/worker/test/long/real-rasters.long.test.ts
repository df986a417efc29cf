import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { basename, join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorker, submit, until, type JobRecord, type TestWorker } from '../harness.ts'

/** GDAL's word on a raster; the folder of such files is not part of the repository. */
interface Expected {
  readonly width: number
  readonly height: number
  readonly epsg: string | null
  readonly gcps: number
  readonly corners_lonlat: Readonly<Record<'ul' | 'ur' | 'lr' | 'll', readonly [number, number]>> | null
  readonly tile256_mid: {
    readonly x: number
    readonly y: number
    readonly ring_lonlat: readonly (readonly [number, number])[]
  } | null
}

// oxlint-disable-next-line node/no-process-env -- Where the oracle's files lie is the machine's business.
const SHARED = process.env['TERRANE_SHARED'] || fileURLToPath(new URL('../../../../../shared', import.meta.url))
const DATA = join(SHARED, 'data')
const TRUTH = join(DATA, 'gdal_expected.json')
const there = existsSync(TRUTH)
const files: [string, Expected][] = there
  ? Object.entries((JSON.parse(readFileSync(TRUTH, 'utf8')) as { files: Record<string, Expected> }).files).map(
      ([path, expected]) => [path.replace(/^dev\//, ''), expected],
    )
  : []

/** Codes of the refusal by raster. */
const REFUSED: Readonly<Record<string, string>> = {
  'corrupt.tif': 'GEOTIFF_MALFORMED|CORRUPT_TILE|GEOTIFF_TRUNCATED|NOT_A_GEOTIFF',
  'slc.tif': 'UNSUPPORTED_DTYPE|NO_GEOREFERENCE',
  'cog_gcps.tif': 'NO_GEOREFERENCE',
  'cog_hirise_mars.tif': 'UNSUPPORTED_CRS',
  'u8_nocrs.tif': 'NO_GEOREFERENCE',
  'all-nodata.tif': 'NO_VALID_PIXELS',
  'cog_world.tif': 'size_guard_exceeded',
  'cog_scale.tif': 'BAND_COUNT',
}

describe.skipIf(!there)(
  `real rasters${there ? '' : ': SKIPPED, the shared rasters are not here (set TERRANE_SHARED)'}`,
  () => {
    let worker: TestWorker
    let count = 0
    beforeAll(async () => {
      worker = await openWorker({ env: { TERRANE_DATA_ROOTS: DATA, TERRANE_MODEL_DOWNLOAD: 'false' } })
    })
    afterAll(async () => {
      await worker[Symbol.asyncDispose]()
    })

    /** The ended job of a file, or the refusal at submit in the same form. */
    async function embed(
      path: string,
      tableName: string,
      body: object = {},
    ): Promise<Pick<JobRecord, 'status' | 'error' | 'result'>> {
      const submitted = await submit(worker, 'createGeoEmbeddings', {
        geotiffPath: path,
        tableName,
        modelName: BUILT_IN_MODEL,
        ...body,
      })
      if (submitted.status === 413) {
        return { status: 'failed', result: null, error: submitted.body as unknown as JobRecord['error'] }
      }
      expect(submitted).toMatchObject({ status: 202 })
      return until(worker, submitted.body.links.self, (job) => job.terminal, 120_000)
    }

    test.each(files)('%s', async (path, expected) => {
      const tableName = `raster_${++count}`
      const job = await embed(path, tableName, { minValidFraction: 0 })
      const refusal = REFUSED[basename(path)]
      if (refusal !== undefined || job.status === 'failed') {
        expect({ status: job.status, code: job.error?.code, hint: job.error?.hint }).toEqual({
          status: 'failed',
          code: expect.stringMatching(new RegExp(`^(${refusal ?? 'UNSUPPORTED_CRS'})$`)) as string,
          hint: expect.any(String) as string,
        })
        return
      }
      const tiles = Math.ceil(expected.width / 256) * Math.ceil(expected.height / 256)
      const result = job.result as { rows: number; dims: number; skipped_nodata: number; crs: string }
      expect(result).toMatchObject({ dims: 64, crs: `EPSG:${expected.epsg}` })
      expect(result.rows + result.skipped_nodata).toBe(tiles)
      const { database } = worker.db
      const { rows: counted } = await database.query(
        `select count(*)::int as n, bool_and(st_isvalid(geom)) as valid, min(vector_dims(embedding)) as dims from geoembeddings.${tableName}`,
      )
      expect(counted).toEqual([{ n: result.rows, valid: true, dims: 64 }])
      if (expected.tile256_mid) {
        const { x, y, ring_lonlat: ring } = expected.tile256_mid
        const wkt = `POLYGON((${ring.map(([lng, lat]) => `${lng} ${lat}`).join(',')}))`
        // Every corner that GDAL gives is a vertex, to a tenth of a millimetre; edges may carry further ones.
        const corners = await database.query<{ worst: number }>(
          `select max(st_distance(p.geom, (select st_points(t.geom) from geoembeddings.${tableName} t where t.px = $1 and t.py = $2))) as worst
         from st_dumppoints(st_geomfromtext($3, 4326)) p`,
          [x, y, wkt],
        )
        const worst = corners.rows[0]?.worst
        // The middle tile may have been left out because it has no data.
        if (worst !== null && worst !== undefined) expect(worst).toBeLessThan(1e-8)
      }
      const { rows: hits } = await database.query<{ id: number; similarity: number }>(
        `select s.id, s.similarity from (select min(id) as id from geoembeddings.${tableName} where vector_norm(embedding) > 0) first,
         geoembeddings.similarity_search(table_name => $1, patch_id => first.id, result_limit => 5) s`,
        [tableName],
      )
      expect(hits[0]?.similarity).toBeCloseTo(1, 4)
    })

    test('a raster of 10,011 tiles is refused before anything is read of it', async () => {
      const job = await embed('geotiff/cog_world.tif', 'world')
      expect(job.error).toMatchObject({
        code: 'size_guard_exceeded',
        message: expect.stringContaining('10011 tiles; GEOEMBEDDINGS_MAX_TILES allows 10000') as string,
      })
    })
  },
)
