import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUILT_IN_MODEL } from '@terrane/embeddings'
import { coverArea } from '@terrane/embeddings/srai'
import { topicTables, writePbf, type OsmElement } from '@terrane/osm'
import { openStore, type ObjectStore } from '@terrane/storage'
import { buildCity } from '@terrane/testing/city'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { shareOfRun } from '@terrane/testing/property'
import { expect } from 'vitest'
import { openWorker, type TestWorker } from '../harness.ts'
import { boxOf } from '../osm-town.ts'
import { features, indexParquet, overtureParquet, serveFiles } from '@terrane/testing/overture'
import { StoredTiles } from '../read-tiles.ts'

const RELEASE = '2026-08-19.0'
const FEATURES = 20_000
const TOWNS = 12
/** Tiles of the raster along a side, and their pixels. */
const TILES = 48
const TILE = 64
const ARCHIVE = 'source.pmtiles'

/** Whether faults have their full number and duration; otherwise a part of it. */
// oxlint-disable-next-line node/no-process-env -- a setting of the test run
export const ALL_FAULTS = process.env['TERRANE_TEST_ALL_FAULTS'] === '1'

/** The tasks that a suite of faults takes in this run: half of them by the seed, or all. */
export function tasksOfRun(suite: string): string[] {
  return ALL_FAULTS ? [...TASKS] : shareOfRun(`${suite}: tasks`, TASKS, TASKS.length / 2)
}

/** A task with something to do that takes a while. */
export interface TaskCase {
  readonly task: string
  /** A request for something of that name. */
  readonly body: (name: string) => object
  /** Whether the output of that name is absent, whole or partial. */
  readonly found: (name: string) => Promise<'nothing' | 'whole' | 'part'>
  readonly remove: (name: string) => Promise<void>
}

/** A worker that runs no jobs itself, and the sources of every case. */
export interface TaskCases extends AsyncDisposable {
  readonly api: TestWorker
  readonly store: ObjectStore
  readonly cases: readonly TaskCase[]
}

export const TASKS = [
  'archiveToPmtiles',
  'overtureImportArea',
  'ogr2ogrImport',
  'osmImportArea',
  'createSraiEmbeddings',
  'createGeoEmbeddings',
] as const

export async function openTaskCases(): Promise<TaskCases> {
  const server = await serveFiles()
  serveRelease(server.files, server.base)
  server.files.set('/lines.geojsonl', lines())
  const api = await openWorker({
    env: {
      TERRANE_WORKER_CONCURRENCY: '0',
      TERRANE_FETCH_ALLOW_HOSTS: server.host,
      TERRANE_SETTINGS: JSON.stringify({
        worker: { maxAreaKm2: 0, overtureCatalogueUrl: `${server.base}/catalog.json` },
      }),
    },
  })
  for (const folder of ['data', 'work']) await mkdir(join(api.folder, folder), { recursive: true })
  await writeFile(join(api.folder, 'data', 'scene.tif'), await scene())
  await writeFile(join(api.folder, 'data', 'towns.osm.pbf'), Buffer.concat([...writePbf(towns())]))
  const store = openStore(api.env['TERRANE_STORAGE']!)
  await store.createBucket('pmtiles', { public: true, fileSizeLimit: null, allowedMimeTypes: null })
  await api.db.database.query(
    `create table source as select n as id, 'name ' || n % 100 as name,
       st_buffer(st_setsrid(st_makepoint(sin(n) * 10, cos(n * 7) * 10), 4326), 0.01 + n % 5 * 0.01, 16) as geom
     from generate_series(1, ${FEATURES}) n`,
  )
  return {
    api,
    store,
    cases: [archive(store), overture(api), ogr(api, server.base), osm(api), srai(api, store), geo(api)],
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

function archive(store: ObjectStore): TaskCase {
  return {
    task: TASKS[0],
    // An archive is named after its table.
    body: () => ({ table: 'source', zooms: [0, 9] }),
    found: async () => {
      const info = await store.head('pmtiles', ARCHIVE)
      if (!info) return 'nothing'
      const header = await new StoredTiles(store, ARCHIVE).header()
      return info.size === header.tileDataOffset + header.tileDataLength! ? 'whole' : 'part'
    },
    remove: async () => void (await store.remove('pmtiles', [ARCHIVE])),
  }
}

function overture(api: TestWorker): TaskCase {
  const area = boxOf(-1, -1, 12, 12)
  return {
    task: TASKS[1],
    body: (name) => ({ areaName: 'x', aoiGeoJson: area, types: ['building'], tablePrefix: name }),
    ...tables(api, 1, '_building', FEATURES),
  }
}

function ogr(api: TestWorker, base: string): TaskCase {
  return {
    task: TASKS[2],
    body: (name) => ({ fileUrl: `${base}/lines.geojsonl`, tableName: name }),
    ...tables(api, 1, '', FEATURES),
  }
}

function osm(api: TestWorker): TaskCase {
  const houses = [...towns()].filter(({ tags }) => tags?.['building']).length
  return {
    task: TASKS[3],
    body: (name) => ({
      areaName: 'Towns',
      tablePrefix: name,
      aoiGeoJson: boxOf(11, 48, 13, 48.5),
      source: { kind: 'file', path: 'towns.osm.pbf' },
    }),
    ...tables(api, topicTables().length, '_buildings', houses),
  }
}

/** Artifacts of a killed job may lie there without a table, until its next run replaces them. */
function srai(api: TestWorker, store: ObjectStore): TaskCase {
  const { database } = api.db
  const area = boxOf(11.59, 48.09, 11.7, 48.12)
  const cells = coverArea({ area: [area.coordinates as [number, number][][]], resolution: 9 }).length
  return {
    task: TASKS[4],
    body: (name) => ({
      tableName: name,
      aoiGeoJson: area,
      h3Resolution: 9,
      osmTags: { building: true, highway: true },
      embedder: { kind: 'hex2vec', layers: [64, 16] },
      source: { kind: 'file', path: 'towns.osm.pbf' },
      uploadArtifactsToStorage: true,
    }),
    found: async (name) => {
      const counted = await database.query<{ tables: number; entries: number }>(
        `select (select count(*) from pg_tables where schemaname = 'geoembeddings' and tablename = $1) as tables,
           (select count(*) from geoembeddings.embeddings_catalogue where table_name = $1 and rows = $2) as entries`,
        [name, cells],
      )
      const { tables: made, entries } = counted.rows[0]!
      if (made === 0 && entries === 0) return 'nothing'
      if (made === 0 || entries === 0) return 'part'
      const { rows } = await database.query<{ rows: number }>(`select count(*) as rows from geoembeddings."${name}"`)
      const files = await Promise.all(artifacts(name).map((key) => store.head('geoembeddings', key)))
      return rows[0]!.rows === cells && files.every((file) => file !== null) ? 'whole' : 'part'
    },
    remove: async (name) => {
      await database.query(
        `select geoembeddings.delete_embedding_table(table_name) from geoembeddings.embeddings_catalogue where table_name = $1`,
        [name],
      )
      if (await store.getBucket('geoembeddings')) await store.remove('geoembeddings', artifacts(name))
    },
  }
}

/** Tiles of 64 pixels, all with data. */
function geo(api: TestWorker): TaskCase {
  const { database } = api.db
  return {
    task: TASKS[5],
    body: (name) => ({ geotiffPath: 'scene.tif', tileSize: TILE, modelName: BUILT_IN_MODEL, tableName: name }),
    found: async (name) => {
      const { rows } = await database.query<{ entries: number; tables: number }>(
        `select (select count(*) from geoembeddings.embeddings_catalogue where table_name = $1 and rows = $2) as entries,
           (select count(*) from pg_tables where schemaname = 'geoembeddings' and tablename = $1) as tables`,
        [name, TILES ** 2],
      )
      const { entries, tables: made } = rows[0]!
      if (entries !== made) return 'part'
      if (made === 0) return 'nothing'
      const counted = await database.query<{ rows: number }>(
        `select count(distinct id) as rows from geoembeddings."${name}"`,
      )
      return counted.rows[0]!.rows === TILES ** 2 ? 'whole' : 'part'
    },
    remove: async (name) => {
      await database.query(
        `select geoembeddings.delete_embedding_table(table_name) from geoembeddings.embeddings_catalogue where table_name = $1`,
        [name],
      )
    },
  }
}

function scene(): Promise<Uint8Array> {
  const size = TILES * TILE
  const image = textureImage({ width: size, height: size, bands: 3, seed: 7, noise: 8, type: 'uint8' })
  const georeference = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
  return writeGeoTiff(image, { type: 'uint8', georeference })
}

function artifacts(name: string): string[] {
  return [`${name}/${name}.parquet`, `${name}/${name}.stac.json`]
}

/** How a case finds and drops its tables: expected number of tables with the name as prefix, and of rows in one of them. */
function tables(api: TestWorker, count: number, suffix: string, rows: number): Pick<TaskCase, 'found' | 'remove'> {
  const { database } = api.db
  const named = async (name: string): Promise<string[]> => {
    const found = await database.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' and starts_with(tablename, $1)`,
      [name],
    )
    return found.rows.map((row) => row.name)
  }
  return {
    found: async (name) => {
      const names = await named(name)
      if (names.length === 0) return 'nothing'
      if (names.length !== count) return 'part'
      const counted = await database.query<{ rows: number }>(`select count(*) as rows from "${name}${suffix}"`)
      return counted.rows[0]!.rows === rows ? 'whole' : 'part'
    },
    remove: async (name) => {
      for (const table of await named(name)) await database.query(`drop table "${table}"`)
    },
  }
}

function serveRelease(files: Map<string, Uint8Array>, base: string): void {
  const path = '/release/part.zstd.parquet'
  files.set(path, overtureParquet(features(FEATURES, 'building', 1), 1000))
  const entry = { type: 'building', href: `${base}${path}`, bbox: [0, 0, 11, 11] }
  files.set(`/${RELEASE}/collections.parquet`, indexParquet([entry]))
  const links = [{ rel: 'child', href: `./${RELEASE}/catalog.json` }]
  files.set('/catalog.json', Buffer.from(JSON.stringify({ latest: RELEASE, links })))
}

function lines(): Buffer {
  const texts = Array.from({ length: FEATURES }, (_, i) => {
    const positions = Array.from({ length: 10 }, (__, k) => [(i % 170) + k / 100, (i % 80) + (k % 3) / 100])
    const geometry = { type: 'LineString', coordinates: positions }
    return `${JSON.stringify({ type: 'Feature', properties: { n: i, name: `line ${i}` }, geometry })}\n`
  })
  return Buffer.from(texts.join(''))
}

/** Towns side by side. */
function* towns(): Generator<OsmElement> {
  const { elements } = buildCity()
  for (const type of ['node', 'way', 'relation'] as const) {
    for (let town = 0; town < TOWNS; town++) {
      for (const element of elements) if (element.type === type) yield shifted(element, town)
    }
  }
}

function shifted(element: OsmElement, town: number): OsmElement {
  const shift = town * 100_000
  const id = element.id + shift
  switch (element.type) {
    case 'node':
      return { ...element, id, lon: element.lon + town * 0.05 }
    case 'way':
      return { ...element, id, refs: element.refs.map((ref) => ref + shift) }
    case 'relation':
      return { ...element, id, members: element.members.map((member) => ({ ...member, ref: member.ref + shift })) }
  }
}

/** Fails when a job left a staging table, a note, a folder, a half uploaded object, or a record that does not end. */
export async function expectNothingLeft({ api, store }: Pick<TaskCases, 'api' | 'store'>): Promise<void> {
  const { database } = api.db
  const staging = await database.query(`select tablename from pg_tables where schemaname = 'terrane_staging'`)
  expect(staging.rows).toEqual([])
  expect((await database.query('select job_id from terrane.job_checkpoints')).rows).toEqual([])
  const open = await database.query(
    `select j.task, j.status, b.state from terrane.jobs j left join pgboss.job b on b.id = j.id
     where j.status in ('pending', 'running') or b.state in ('created', 'active', 'retry')`,
  )
  expect(open.rows).toEqual([])
  expect(await readdir(api.env['TERRANE_WORK_DIR']!)).toEqual([])
  const keys: string[] = []
  for (const { id } of await store.listBuckets()) {
    for await (const { key } of store.list(id, '')) keys.push(key)
  }
  expect(keys.filter((key) => key.startsWith('.'))).toEqual([])
}
