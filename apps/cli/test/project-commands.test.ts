import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { compile, type VectorLayer } from '@terrane/map-style'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { COMMANDS } from '../src/commands/all.ts'
import { run } from '../src/run.ts'

const ID = '01a203f4-f25c-78bf-9c82-6aacbb2d106c'
const job = {
  id: ID,
  taskName: 'ogr2ogrImport',
  status: 'failed',
  progress: null,
  result: null,
  error: {
    code: 'NO_SRS',
    message: 'The file names no system',
    hint: 'Send sourceSrs.',
    details: null,
    retryable: true,
  },
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:01Z',
}

/** Answers of the project by the beginning of a call; other calls get 404. */
let answers: Record<string, readonly [status: number, body: unknown]>
let asked: { call: string; body: unknown }[]
let close: () => void
/** Whether answers are cut off in the middle. */
let breakOff: boolean
/** Part of an answer that reports losses. */
let told: 'headers' | 'trailers' | null
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-cli-'))
  answers = {}
  asked = []
  breakOff = false
  told = null
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      const call = `${request.method} ${request.url}`
      asked.push({ call, body: text === '' ? null : JSON.parse(text) })
      if (breakOff) {
        response.writeHead(200)
        return response.write('a,b', () => response.destroy())
      }
      const known = Object.keys(answers).find((start) => call.startsWith(start))
      const [status, body] = known === undefined ? [404, { code: 'JOB_NOT_FOUND' }] : answers[known]!
      const lost = { 'x-export-warnings': 'GEOMETRY_LOST 3' }
      response.writeHead(status, { 'content-type': 'application/json', ...(told === 'headers' && lost) })
      response.write(JSON.stringify(body))
      if (told === 'trailers') response.addTrailers(lost)
      return response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  close = () => void server.close()
  vi.stubEnv('TERRANE_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  vi.stubEnv('TERRANE_SERVICE_ROLE_KEY', 'key')
})
afterEach(async () => {
  close()
  await rm(folder, { recursive: true })
  vi.unstubAllEnvs()
})

async function terrane(...args: string[]) {
  const said = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      said[name] += typeof text === 'string' ? text : Buffer.from(text).toString()
      return true
    }),
  )
  const before = process.exitCode
  try {
    return { code: await run(args, COMMANDS), ...said }
  } finally {
    for (const spy of spies) spy.mockRestore()
    process.exitCode = before
  }
}

describe('a command that runs a task', () => {
  test('sends many files as one request, and adds to a table by what the table was made with', async () => {
    answers['POST /worker/jobs/'] = [202, { ...job, status: 'pending' }]
    const [a, b] = ['https://example.org/A.tif', 'https://example.org/b.tif'] as const
    await terrane('embed', a, b, '--no-watch')
    await terrane('embed', b, '--table', 'harbour', '--append', '--no-watch')
    expect(asked.map(({ body }) => body)).toEqual([
      {
        sources: [{ geotiffPath: a }, { geotiffPath: b }],
        tableName: 'a',
        modelName: 'builtin-texture-spectral-v2',
      },
      { sources: [{ geotiffPath: b }], mode: 'append', tableName: 'harbour' },
    ])
  })

  test('makes a basemap by two jobs and drops the tables between, also when the second fails', async () => {
    const done = { ...job, status: 'success', terminal: true, error: null }
    const tables = [{ name: 'basemap_old_town_roads', rows: 3 }]
    answers['POST /worker/jobs/'] = [202, { ...job, status: 'pending', error: null }]
    answers['GET /worker/jobs/osmImportArea'] = [200, { ...done, result: { tables } }]
    answers['POST /rest/v1/rpc/drop_table'] = [200, null]
    answers['POST /storage/v1/object/list-v2/pmtiles'] = [200, { objects: [], hasNext: false }]
    const result = { bucket: 'pmtiles', path: 'basemap_old_town.pmtiles', tiles: 7, bytes: 900 }
    const add = ['basemap', 'add', 'Old Town', '--bbox=11.5,48,11.6,48.1']
    answers['GET /worker/jobs/archiveToPmtiles'] = [200, { ...done, result }]
    expect(await terrane(...add)).toMatchObject({ code: 0, stdout: expect.stringContaining('7 tiles, 900 bytes') })
    const bodies = asked.filter(({ call }) => call.startsWith('POST')).map(({ body }) => body)
    expect(bodies).toMatchObject([
      { prefix: 'basemap_old_town.pmtiles' },
      { areaName: 'Old Town', tablePrefix: 'basemap_old_town', topics: { tables: expect.anything() } },
      { archiveName: 'basemap_old_town', table: 'basemap_old_town_roads', layerName: 'roads', layers: [] },
      { p_schema: 'public', p_table: 'basemap_old_town_roads' },
    ])
    answers['GET /worker/jobs/archiveToPmtiles'] = [200, { ...job, terminal: true }]
    asked = []
    expect(await terrane(...add)).toMatchObject({ code: 1 })
    expect(asked.at(-1)?.call).toBe('POST /rest/v1/rpc/drop_table')
    answers['POST /storage/v1/object/list-v2/pmtiles'] = [200, { objects: [{}], hasNext: false }]
    asked = []
    expect(await terrane(...add)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is a basemap old_town'),
    })
    expect(asked).toHaveLength(1)
    answers['GET /worker/jobs/archiveToPmtiles'] = [200, { ...done, result }]
    expect(await terrane(...add, '--replace')).toMatchObject({ code: 0 })
    expect(await terrane('basemap', 'add', '…', '--bbox=11.5,48,11.6,48.1')).toMatchObject({
      code: expect.any(Number),
      stderr: expect.stringContaining('cannot be called'),
    })
  })

  test('tells of an image what its model asks for', async () => {
    answers['POST /worker/jobs/'] = [202, { ...job, status: 'pending' }]
    const options = ['--sensor', 'sentinel-2-l2a', '--datetime', '2024-06-01T10:00:00Z', '--level', 'patch', '--raw']
    await terrane('embed', 'https://example.org/scene.tif', '--model', 'clay', ...options, '--no-watch')
    expect(asked[0]?.body).toEqual({
      geotiffPath: 'https://example.org/scene.tif',
      tableName: 'scene',
      modelName: 'clay',
      profile: 'sentinel-2-l2a',
      datetime: '2024-06-01T10:00:00Z',
      level: 'patch',
      normalizeEmbeddings: false,
    })
    expect(await terrane('embed', 'https://example.org/scene.tif', '--level', 'pixel')).toMatchObject({ code: 2 })
  })

  test('sends what its options say, and prints the id of a job that it does not watch', async () => {
    answers['POST /worker/jobs/'] = [202, { ...job, status: 'pending' }]
    const bbox = '--bbox=-8.69,41.13,-8.55,41.19'
    for (const args of [
      ['embed', 'https://example.org/My Scene.tif'],
      [
        'import',
        'https://example.org/parcels.zip',
        '--srs',
        'EPSG:25832',
        '--replace',
        '--table',
        'plots',
        '--xy',
        'lon,lat',
      ],
      ['osm', 'Porto', bbox, '--topic', 'streets', 'pois'],
      ['overture', 'Porto', bbox],
      ['regions', 'cells', '--place', 'Porto', '--resolution', '8', '--prefix', 'porto'],
      ['tiles', 'streets', '--zooms', '4-12'],
      [
        'tiles',
        'places',
        'pois',
        '--name',
        'city',
        '--filter',
        'n=gt.1',
        '--rank-by',
        'n',
        '--cluster',
        '40',
        '--drop-rate',
        '2.5',
      ],
    ]) {
      expect(await terrane(...args, '--no-watch')).toEqual({ code: 0, stdout: `${ID}\n`, stderr: '' })
    }
    expect(asked.map(({ call }) => call.split('/').at(-1))).toEqual([
      'createGeoEmbeddings',
      'ogr2ogrImport',
      'osmImportArea',
      'overtureImportArea',
      'createSraiEmbeddings',
      'archiveToPmtiles',
      'archiveToPmtiles',
    ])
    const [embed, file, osm, overture, regions, tiles, layers] = asked.map(({ body }) => body)
    expect(embed).toEqual({
      geotiffPath: 'https://example.org/My Scene.tif',
      tableName: 'my_scene',
      modelName: 'builtin-texture-spectral-v2',
    })
    expect(file).toEqual({
      fileUrl: 'https://example.org/parcels.zip',
      tableName: 'plots',
      sourceSrs: 'EPSG:25832',
      csv: { x: 'lon', y: 'lat' },
      mode: 'replace',
    })
    expect(osm).toMatchObject({ areaName: 'Porto', topics: ['streets', 'pois'], aoiGeoJson: { type: 'Polygon' } })
    expect(overture).toMatchObject({ topics: ['places'] })
    expect(regions).toEqual({
      tableName: 'cells',
      h3Resolution: 8,
      placeQuery: 'Porto',
      source: { kind: 'tables', prefix: 'porto' },
    })
    expect(tiles).toEqual({ table: 'streets', schema: 'public', zooms: [4, 12] })
    const layer = {
      schema: 'public',
      filter: 'n=gt.1',
      dropRate: 2.5,
      rankBy: { property: 'n' },
      cluster: { distance: 40 },
    }
    expect(layers).toEqual({ table: 'places', ...layer, archiveName: 'city', layers: [{ table: 'pois', ...layer }] })
  })

  test('takes the outline of the place that it is named for, where no area is said', async () => {
    const geojson = { type: 'Polygon', coordinates: [[[-8.7, 41.1], [-8.5, 41.1], [-8.5, 41.2], [-8.7, 41.1]]] } // prettier-ignore
    answers['GET /worker/places?name=Porto'] = [200, { name: 'Porto, Portugal', element: 'relation/3459013', geojson }]
    answers['POST /worker/jobs/'] = [202, { ...job, status: 'pending' }]
    const said = await terrane('osm', 'Porto', '--no-watch')
    expect(said).toEqual({ code: 0, stdout: `${ID}\n`, stderr: 'Porto, Portugal\n' })
    expect(asked.at(-1)?.body).toMatchObject({ areaName: 'Porto', aoiGeoJson: geojson })
    const off = { code: 'GEOCODER_OFF', message: 'This worker has no geocoder.' }
    answers['GET /worker/places?name=Porto'] = [422, off]
    expect(await terrane('overture', 'Porto')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/has no geocoder[^]*--bbox/) as string,
    })
  })

  test('waits for the end, prints the result, and fails with what the job failed for', async () => {
    answers['POST /worker/jobs/'] = [202, job]
    answers[`GET /worker/jobs/archiveToPmtiles/${ID}`] = [
      200,
      {
        ...job,
        status: 'success',
        result: {
          bucket: 'pmtiles',
          path: 'a.pmtiles',
          tiles: 8,
          bytes: 9,
          warnings: [{ message: 'two were left out' }],
        },
      },
    ]
    expect(await terrane('tiles', 'a')).toEqual({
      code: 0,
      stdout: 'pmtiles/a.pmtiles: 8 tiles, 9 bytes\n',
      stderr: 'warning: two were left out\n',
    })
    answers[`GET /worker/jobs/ogr2ogrImport/${ID}`] = [200, job]
    const failed = await terrane('import', 'https://example.org/a.csv')
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toMatch(/jobs why[^]*The file names no system\nSend sourceSrs\.\n$/)
  })

  test('writes a table to a file, whole or not at all, and takes what lay in the storage for it away', async () => {
    const file = join(folder, 'roads.gpkg')
    answers['POST /storage/v1/bucket'] = [409, { message: 'The bucket exists already' }]
    answers['POST /worker/jobs/'] = [202, job]
    answers[`GET /worker/jobs/exportTable/${ID}`] = [
      200,
      { ...job, status: 'success', result: { rows: 3, bytes: 9, warnings: [] } },
    ]
    const lost = await terrane('export', 'roads', file)
    expect(lost.code).toBe(1)
    expect(await readdir(folder)).toEqual([])
    answers['GET /storage/v1/object/exports/'] = [200, 'what it holds']
    answers['DELETE /storage/v1/object/exports/'] = [200, {}]
    expect(await terrane('export', 'roads', file)).toMatchObject({ code: 0, stdout: `${file}: 3 rows, 9 bytes\n` })
    expect(await readdir(folder)).toEqual(['roads.gpkg'])
    expect(await readFile(file, 'utf8')).toBe('"what it holds"')
    expect(asked.find(({ call }) => call.includes('exportTable'))?.body).toMatchObject({
      table: 'roads',
      schema: 'public',
      format: 'GeoPackage',
      storagePath: { bucket: 'exports' },
    })
    expect(asked.at(-1)?.call).toMatch(/^DELETE .*\/roads\.gpkg$/)
    const odd = await terrane('export', 'roads', join(folder, 'roads.odd'))
    expect(odd).toMatchObject({ code: 1, stderr: expect.stringContaining('.parquet') })
  })

  test('streams a table to standard output or a file, without a job', async () => {
    answers['GET /export/v1/'] = [200, { type: 'FeatureCollection' }]
    const shown = await terrane('export', 'roads')
    expect(shown).toEqual({ code: 0, stdout: '{"type":"FeatureCollection"}', stderr: '' })
    const file = join(folder, 'some.csv')
    const filtered = ['--schema', 'old', '--columns', 'name,geom', '--filter', 'kind=eq.path&name=like.A*']
    expect(await terrane('export', 'roads', file, ...filtered)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await readFile(file, 'utf8')).toBe('{"type":"FeatureCollection"}')
    answers['GET /export/v1/'] = [400, { code: 'PGRST100', message: 'A Shapefile cannot be streamed' }]
    const refused = await terrane('export', 'roads', join(folder, 'roads.zip'), '--stream')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be streamed') as string })
    expect(await readdir(folder)).toEqual(['some.csv'])
    expect(asked.map(({ call }) => call)).toEqual([
      'GET /export/v1/public.roads?format=GeoJSON',
      'GET /export/v1/old.roads?kind=eq.path&name=like.A*&format=CSV&columns=name%2Cgeom',
      'GET /export/v1/public.roads?format=Shapefile',
    ])
  })

  test.each(['headers', 'trailers'] as const)('says what a streamed file lost, told in the %s', async (place) => {
    told = place
    answers['GET /export/v1/'] = [200, 'a,b']
    const file = join(folder, 'roads.csv')
    const { code, stderr } = await terrane('export', 'roads', file, '--stream')
    expect([code, stderr]).toEqual([0, 'warning: GEOMETRY_LOST 3\n'])
  })

  test('leaves no part of a stream that breaks off, and a file that happens to be there as it is', async () => {
    await writeFile(join(folder, 'roads.csv.part'), 'mine')
    breakOff = true
    const broken = await terrane('export', 'roads', join(folder, 'roads.csv'), '--stream')
    expect([broken.code, await readdir(folder)]).toEqual([1, ['roads.csv.part']])
  })

  test('says what is wrong with a file, an area or a number before it asks anybody', async () => {
    expect(await terrane('embed', '/nowhere/scene.tif')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no file') as string,
    })
    expect(await terrane('regions', 'porto_cells')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--bbox') as string,
    })
    expect(await terrane('osm', 'Porto', '--area', '/nowhere/area.json')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/nowhere/area.json of --area cannot be read') as string,
    })
    expect((await terrane('osm', 'Porto', '--bbox', '1,2,3')).code).toBe(2)
    expect((await terrane('tiles', 'a', '--zooms', 'low')).code).toBe(2)
    expect(asked).toEqual([])
  })
})

describe('terrane jobs', () => {
  beforeEach(() => {
    answers[`GET /worker/jobs/ogr2ogrImport/${ID}/log`] = [
      200,
      { data: [{ at: 'T', level: 'info', message: 'Started' }], last: 1, more: false },
    ]
    answers[`GET /worker/jobs/ogr2ogrImport/${ID}`] = [200, job]
  })

  test('finds a job by its id alone, and says why it failed and what to do', async () => {
    const { code, stdout } = await terrane('jobs', 'why', ID)
    expect([code, stdout]).toEqual([
      0,
      `NO_SRS: The file names no system\nSend sourceSrs.\nA retry may succeed: terrane jobs retry ${ID}\n`,
    ])
    expect(await terrane('jobs', 'why', 'other')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('jobs list') as string,
    })
  })

  describe('of a job that has not ended', () => {
    const lines = [
      { at: 'T1', level: 'info', event: 'started', code: null, message: 'Started' },
      { at: 'T2', level: 'warning', event: 'retry', code: 'UPSTREAM_DOWN', message: 'it will be tried again' },
    ]
    const other = { ...job, id: 'other', status: 'pending' }
    const waits = { ...job, status: 'pending', error: null, attempt: 0, max_attempts: 3 }
    beforeEach(() => {
      answers[`GET /worker/jobs/ogr2ogrImport/${ID}/log`] = [200, { data: [], last: 0, more: false }]
      answers[`GET /worker/jobs/ogr2ogrImport/${ID}`] = [200, waits]
      answers['GET /worker/jobs/ogr2ogrImport?status=pending'] = [200, { data: [other, waits], next_cursor: null }]
      answers['GET /worker/jobs/ogr2ogrImport?status=running'] = [200, { data: [], next_cursor: null }]
      answers['GET /worker/capacity'] = [200, { queued: 2, running: 0 }]
    })

    test('why says its place, and that no worker may be there', async () => {
      const { stdout } = await terrane('jobs', 'why', ID)
      expect(stdout).toContain('It has been queued since 2026-01-01T00:00:00Z.')
      expect(stdout).toContain('1 are ahead of it and 0 run; over all tasks and projects 2 wait and 0 run')
      expect(stdout).toContain('No job is running')
    })

    test('why says what is in the way: jobs of its own project, or of others', async () => {
      answers['GET /worker/jobs/ogr2ogrImport?status=running'] = [200, { data: [other], next_cursor: null }]
      expect((await terrane('jobs', 'why', ID)).stdout).toContain('TERRANE_PROJECT_CONCURRENCY')
      answers['GET /worker/jobs/ogr2ogrImport?status=running'] = [200, { data: [], next_cursor: null }]
      answers['GET /worker/capacity'] = [200, { queued: 2, running: 4 }]
      expect((await terrane('jobs', 'why', ID)).stdout).toContain('Workers are busy with other jobs')
    })

    test('why says how often it was tried and what went wrong last', async () => {
      answers[`GET /worker/jobs/ogr2ogrImport/${ID}/log`] = [200, { data: lines, last: 2, more: false }]
      answers[`GET /worker/jobs/ogr2ogrImport/${ID}`] = [200, { ...waits, attempt: 1 }]
      const { stdout } = await terrane('jobs', 'why', ID)
      expect(stdout).toContain('1 of 3 attempts are used')
      expect(stdout).toContain('Before, at T2: UPSTREAM_DOWN: it will be tried again')
      answers[`GET /worker/jobs/ogr2ogrImport/${ID}`] = [200, { ...waits, status: 'running', attempt: 2 }]
      expect((await terrane('jobs', 'why', ID, '--json')).stdout).toMatch(/"attempt": 2[^]*It runs, attempt 2 of 3/)
    })
  })

  test('prints the log, cancels, tries again, and ends with 1 when the job that it watched failed', async () => {
    answers[`DELETE /worker/jobs/ogr2ogrImport/${ID}`] = [202, { ...job, status: 'running' }]
    answers[`POST /worker/jobs/ogr2ogrImport/${ID}/retry`] = [202, { ...job, id: 'next' }]
    expect((await terrane('jobs', 'logs', ID)).stdout).toBe('T  info     Started\n')
    expect((await terrane('jobs', 'cancel', ID)).stdout).toBe('stopping\n')
    expect((await terrane('jobs', 'retry', ID)).stdout).toBe('next\n')
    expect(await terrane('jobs', 'watch', ID)).toMatchObject({ code: 1, stdout: 'failed: The file names no system\n' })
  })

  test('lists the jobs of all tasks, the latest first', async () => {
    answers['GET /worker/jobs/ogr2ogrImport?'] = [
      200,
      { data: [job, { ...job, id: 'later', created_at: '2026-02-01' }] },
    ]
    answers['GET /worker/jobs/'] = [200, { data: [] }]
    const { stdout } = await terrane('jobs', 'list', '--json')
    expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual(['later', ID])
  })
})

test('a route is printed turn by turn, a search as a table', async () => {
  const maneuvers = [{ instruction: 'Go north.', length: 0.2 }]
  answers['POST /routing-engine'] = [200, { trip: { summary: { length: 0.2, time: 120 }, legs: [{ maneuvers }] } }]
  answers['POST /rest/v1/rpc/similarity_search'] = [200, [{ id: 4, similarity: 0.9, geometry: {} }]]
  expect(await terrane('route', '48.1,11.6', '48.2,11.6', '--by', 'bicycle')).toEqual({
    code: 0,
    stdout: 'Go north. (0.2 km)\n',
    stderr: '0.2 km, 2 min\n',
  })
  expect((await terrane('search', 'scene', '--at', '48.1,11.6', '--limit', '1')).stdout).toBe(
    'id  similarity\n4   0.9\n',
  )
  expect(asked.at(-1)?.body).toEqual({ table_name: 'scene', lon: 11.6, lat: 48.1, result_limit: 1 })
  expect((await terrane('route', 'here', '48.2,11.6')).code).toBe(2)
})

test('the map of the routing engine is told with its tags that are not understood', async () => {
  const corners = [[11, 48], [12, 48], [12, 49], [11, 49], [11, 48]] // prettier-ignore
  const bbox = { features: [{ geometry: { coordinates: [corners] } }] }
  const status = { tileset_last_modified: 1_770_000_000, unread_tags: [{ tag: 'access=staff', count: 2 }], bbox }
  answers['POST /routing-engine/v1/status'] = [200, status]
  expect(await terrane('routing', 'inspect')).toEqual({
    code: 0,
    stdout: 'tag           count\naccess=staff  2\n',
    stderr:
      'Built 2026-02-02T02:40:00.000Z, from 11, 48 to 12, 49.\nUnsupported tags; a route over one has a warning:\n',
  })
  expect(JSON.parse((await terrane('routing', 'inspect', '--json')).stdout)).toEqual(status)
  answers['POST /routing-engine/v1/status'] = [200, { ...status, tileset_last_modified: 0 }]
  expect((await terrane('routing', 'inspect')).stderr).toMatch(/^Built at an unknown time, from 11/)
})

describe('tables', () => {
  test('are listed, shared, taken back and dropped by functions of the database', async () => {
    const roads = { table_schema: 'public', table_name: 'roads', rows: 3, shared_with: ['anon'] }
    answers['POST /rest/v1/rpc/list_tables'] = [200, [roads]]
    answers['POST /rest/v1/rpc/'] = [204, null]
    expect((await terrane('tables', 'list')).stdout).toMatch(/^table_schema .*\npublic +roads +- +- +3 /)
    expect(await terrane('tables', 'share', 'roads', '--with', 'anon')).toMatchObject({
      code: 0,
      stdout: 'public.roads: read by anon, service_role (before: anon, service_role)\n',
    })
    await terrane('tables', 'unshare', 'roads', '--with', 'authenticated')
    await terrane('tables', 'drop', 'scene', '--schema', 'geoembeddings', '--yes')
    const table = { p_schema: 'public', p_table: 'roads' }
    expect(asked.filter(({ call }) => !call.endsWith('list_tables'))).toEqual([
      { call: 'POST /rest/v1/rpc/share_table', body: { ...table, p_role: 'anon' } },
      { call: 'POST /rest/v1/rpc/unshare_table', body: { ...table, p_role: 'authenticated' } },
      { call: 'POST /rest/v1/rpc/drop_table', body: { p_schema: 'geoembeddings', p_table: 'scene' } },
    ])
  })

  test('are not shared or taken back without the role', async () => {
    for (const command of ['share', 'unshare']) {
      expect(await terrane('tables', command, 'roads')).toMatchObject({
        code: expect.not.stringMatching(/^0$/) as number,
        stderr: expect.stringContaining('--with') as string,
      })
    }
    expect(asked).toEqual([])
  })

  test('are dropped together, by names and patterns, each once', async () => {
    const row = (name: string, kind = 'table', schema = 'public') => ({ table_schema: schema, table_name: name, kind })
    answers['POST /rest/v1/rpc/list_tables'] = [
      200,
      [
        row('porto_pois'),
        row('porto_streets'),
        row('porto_view', 'view'),
        row('roads'),
        row('porto_x', 'table', 'geoembeddings'),
      ],
    ]
    answers['POST /rest/v1/rpc/drop_table'] = [204, null]
    const asks = await terrane('tables', 'drop', 'porto_*', 'roads')
    expect([asks.code, asks.stderr]).toEqual([
      1,
      'terrane: 3 tables, public.porto_pois, public.porto_streets, public.roads would be deleted with all their rows\nAdd --yes to do it.\n',
    ])
    expect(await terrane('tables', 'drop', '*_pois', 'porto_*', 'roads', '--yes')).toMatchObject({
      code: 0,
      stdout: 'public.porto_pois\npublic.porto_streets\npublic.roads\n',
    })
    const dropped = asked.filter(({ call }) => call.endsWith('drop_table')).map(({ body }) => body)
    expect(dropped).toEqual(
      ['porto_pois', 'porto_streets', 'roads'].map((p_table) => ({ p_schema: 'public', p_table })),
    )
    expect((await terrane('tables', 'drop', 'public.roads', 'roads', '--yes')).stdout).toBe('public.roads\n')
    expect(await terrane('tables', 'drop', 'lisbon*', '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('No table of public is named like lisbon*') as string,
    })
  })

  test('are shared by patterns, and told as JSON', async () => {
    const row = (name: string) => ({ table_schema: 'public', table_name: name, kind: 'table', shared_with: ['anon'] })
    answers['POST /rest/v1/rpc/list_tables'] = [200, [row('porto_pois'), row('porto_streets'), row('roads')]]
    answers['POST /rest/v1/rpc/'] = [204, null]
    const { stdout } = await terrane('tables', 'share', 'porto_*', '--with', 'anon', '--json')
    const readers = ['anon', 'service_role']
    expect(JSON.parse(stdout)).toEqual([
      { table: 'public.porto_pois', readers, before: readers },
      { table: 'public.porto_streets', readers, before: readers },
    ])
    const dropped = await terrane('tables', 'drop', '*_streets', 'roads', '--yes', '--json')
    expect(JSON.parse(dropped.stdout)).toEqual([{ table: 'public.porto_streets' }, { table: 'public.roads' }])
  })

  test('are told as JSON up to the first that fails', async () => {
    answers['POST /rest/v1/rpc/'] = [403, { message: 'no' }]
    const { code, stdout } = await terrane('tables', 'drop', 'roads', 'parcels', '--yes', '--json')
    expect([code, JSON.parse(stdout)]).toEqual([1, []])
  })

  test('are not dropped without --yes', async () => {
    expect(await terrane('tables', 'drop', 'roads')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--yes'),
    })
    expect(asked).toEqual([])
  })
})

const ROADS: VectorLayer = {
  id: 'a',
  title: 'Roads',
  isShown: true,
  opacity: 1,
  zooms: [0, 24],
  bounds: [0, 0, 1, 1],
  attribution: '',
  kind: 'vector',
  table: 'public.roads',
  geometry: 'line',
  draw: 'features',
  color: { by: 'one', color: '#336699' },
  size: 2,
  outline: { color: '#ffffff', width: 1 },
  label: null,
  filters: [],
}

describe('a layer definition for QGIS', () => {
  beforeEach(() => {
    answers['GET /ogc/v1/collections?f=json'] = [
      200,
      { collections: [{ id: 'public.roads' }, { id: `public.o'n"e & <b>` }] },
    ]
  })

  test('has features and tiles of each table that the anon key reads, in a file of its owner alone', async () => {
    vi.stubEnv('TERRANE_ANON_KEY', 'anon-key')
    const file = join(folder, 'town.qlr')
    expect(await terrane('qgis', '--file', file)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('public.roads'),
    })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const text = await readFile(file, 'utf8')
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? ''
    const sources = [...text.matchAll(/<datasource>(.*?)<\/datasource>/g)].map(([, source]) =>
      source!.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))),
    )
    expect(sources[0]).toContain(`url='${url}/ogc/v1' typename='public.roads' username='terrane' password='anon-key'`)
    // QGIS 3.40 draws URLs of this form, but not with escaped slashes.
    expect(sources[1]).toBe(
      `type=xyz&url=${url}/vector/v1/public.roads/%7Bz%7D/%7Bx%7D/%7By%7D&zmin=0&zmax=24&http-header:apikey=anon-key`,
    )
    expect(sources[2]).toContain(String.raw`typename='public.o\'n"e & <b>'`)
    expect(sources).toHaveLength(4)
    expect(text.match(/<layer-tree-layer /g)).toHaveLength(4)
    expect(text).not.toContain('<b>')
  })

  test('is refused for a table that the key does not read, and without an anon key', async () => {
    const file = join(folder, 'town.qlr')
    expect(await terrane('qgis', '--file', file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--role service'),
    })
    const refused = await terrane('qgis', 'secret', '--file', file, '--role', 'service')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('public.secret') })
    expect(await readdir(folder)).toEqual([])
    await writeFile(file, 'of before', { mode: 0o644 })
    expect(await terrane('qgis', 'roads', '--file', file, '--role', 'service')).toMatchObject({ code: 0 })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readFile(file, 'utf8')).toContain('password=&#39;key&#39;')
  })

  test('has the layers of a map that is named by its title, and says that there is no such map', async () => {
    const file = join(folder, 'map.qlr')
    const map = { title: 'Roads', notes: '', view: null, layers: [] }
    const of = 'select=style&order=updated_at.desc&limit=1'
    answers[`GET /rest/v1/maps?title=eq.Roads&${of}`] = [200, [{ style: { metadata: { 'terrane:map': map } } }]]
    answers[`GET /rest/v1/maps?title=eq.None&${of}`] = [200, []]
    expect(await terrane('qgis', '--map', 'Roads', '--file', file, '--role', 'service')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 layers of the map Roads'),
    })
    expect(await readFile(file, 'utf8')).toContain('<layer-tree-group name="Roads"')
    const refused = await terrane('qgis', '--map', 'None', '--file', file, '--role', 'service')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no map None') })
    const both = await terrane('qgis', 'roads', '--map', 'Roads', '--file', file, '--role', 'service')
    expect(both).toMatchObject({ code: 1, stderr: expect.stringContaining('--map') })
  })

  test('of a map warns of tables that its key does not read', async () => {
    const style = compile({
      title: 'Roads',
      notes: '',
      view: null,
      layers: [ROADS, { ...ROADS, id: 'b', table: 'public.secret' }],
    })
    answers['GET /rest/v1/maps?title=eq.Roads&'] = [200, [{ style }]]
    const written = await terrane(
      'qgis',
      '--map',
      'Roads',
      '--file',
      join(folder, 'map.qlr'),
      '--role',
      'service',
      '--json',
    )
    expect(JSON.parse(written.stdout)).toMatchObject({
      warnings: ['The service key reads no table public.secret. Share it, or use --role service.'],
    })
  })
})

test('env prints lines that a shell takes as they are', async () => {
  vi.stubEnv('TERRANE_SERVICE_ROLE_KEY', `it's "$HOME"`)
  const { stdout } = await terrane('env')
  const said = execFileSync('sh', ['-c', `${stdout}printf %s "$TERRANE_SERVICE_ROLE_KEY"`], { encoding: 'utf8' })
  expect(said).toBe(`it's "$HOME"`)
  expect(stdout).not.toContain('DATABASE_URL')
})

test('a place that is none is refused with what is wanted, before anything is asked', async () => {
  for (const args of [
    ['route', '1,2', '3'],
    ['route', '91,2', '3,4'],
    ['search', 'scene', '--at', '1,200'],
  ]) {
    const { code, stderr } = await terrane(...args)
    expect([args, code, stderr.includes('latitude,longitude')]).toEqual([args, 2, true])
  }
  expect(asked).toEqual([])
})

test('the version is printed', async () => {
  const { code, stdout } = await terrane('--version')
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
})

test('a project that does not answer is named, with what to do', async () => {
  close()
  vi.stubEnv('TERRANE_URL', 'http://127.0.0.1:9')
  const { code, stderr } = await terrane('tables', 'list')
  expect(code).toBe(1)
  expect(stderr).toMatch(/^terrane: The project does not answer \(.*\)\. Is it running\? `terrane doctor` checks\.\n$/)
})

test('a task is scheduled instead of run, and schedules are listed, paused, resumed and deleted', async () => {
  const schedule = { id: ID, taskName: 'ogr2ogrImport', cron: '@daily', next_run_at: '2026-11-27T00:00:00Z' }
  answers['POST /worker/schedules/ogr2ogrImport'] = [201, schedule]
  answers['GET /worker/schedules'] = [200, { data: [schedule], next_cursor: null }]
  answers[`PATCH /worker/schedules/${ID}`] = [200, schedule]
  answers[`DELETE /worker/schedules/${ID}`] = [204, null]
  const made = await terrane(
    'import',
    'https://example.org/a.gpkg',
    '--replace',
    '--schedule',
    '@daily',
    '--time-zone',
    'Europe/Zurich',
  )
  expect([made.code, made.stdout]).toEqual([0, `${ID}\n`])
  expect(asked.at(-1)?.body).toEqual({
    cron: '@daily',
    timeZone: 'Europe/Zurich',
    input: { fileUrl: 'https://example.org/a.gpkg', tableName: 'a', mode: 'replace' },
  })
  expect((await terrane('schedules', 'list')).stdout).toContain('@daily')
  for (const [command, body] of [
    ['pause', { paused: true }],
    ['resume', { paused: false }],
    ['delete', null],
  ] as const) {
    expect(await terrane('schedules', command, ID)).toMatchObject({ code: 0, stdout: `${ID}\n` })
    expect(asked.at(-1)?.body).toEqual(body)
  }
})

test('webhooks are made, listed and deleted; the secret is printed once', async () => {
  const hook = { id: ID, url: 'https://example.org/hook', tasks: null, statuses: ['failed'], paused: false }
  answers['POST /worker/webhooks'] = [201, { ...hook, secret: 'whsec_abc' }]
  answers['GET /worker/webhooks'] = [200, { data: [hook] }]
  answers[`DELETE /worker/webhooks/${ID}`] = [204, null]
  const made = await terrane('webhooks', 'create', 'https://example.org/hook', '--status', 'failed')
  expect([made.code, made.stdout]).toEqual([0, 'whsec_abc\n'])
  expect(asked.at(-1)?.body).toEqual({ url: 'https://example.org/hook', statuses: ['failed'] })
  expect((await terrane('webhooks', 'list')).stdout).toContain('https://example.org/hook')
  expect((await terrane('webhooks', 'delete', ID)).code).toBe(0)
  expect((await terrane('webhooks', 'create', 'https://example.org/hook', '--task', 'none')).code).toBe(2)
})

test('table hooks are made, paused and listed; events that were given up are sent again', async () => {
  const hook = {
    id: ID,
    table: 'orders',
    events: ['UPDATE'],
    url: '/functions/v1/receipt',
    paused: false,
    waiting: 0,
    dead: 1,
  }
  const letter = {
    id: '7',
    lane: `hook:${ID}`,
    key: '[1]',
    attempts: 15,
    error: 'HTTP status 500',
    dead_at: '2026-11-22',
  }
  answers['POST /worker/table-hooks'] = [201, { ...hook, secret: 'whsec_abc' }]
  answers['GET /worker/table-hooks'] = [200, { data: [hook] }]
  answers[`PATCH /worker/table-hooks/${ID}`] = [200, hook]
  answers[`DELETE /worker/table-hooks/${ID}`] = [204, null]
  answers['GET /worker/dead-letters'] = [200, { data: [letter, { ...letter, lane: 'hook:other' }], next_cursor: null }]
  answers['POST /worker/dead-letters/resend'] = [200, { count: 1 }]
  const made = await terrane('hooks', 'create', 'orders', 'receipt', '--on', 'update', '--where', 'status=paid', 'n=1')
  expect([made.code, made.stdout]).toEqual([0, 'whsec_abc\n'])
  const where = { status: 'paid', n: 1 }
  expect(asked.at(-1)?.body).toEqual({ table: 'orders', function: 'receipt', events: ['UPDATE'], where })
  await terrane('hooks', 'create', 'orders', 'https://example.org/hook')
  expect(asked.at(-1)?.body).toEqual({ table: 'orders', url: 'https://example.org/hook' })
  expect((await terrane('hooks', 'list')).stdout).toContain('/functions/v1/receipt')
  await terrane('hooks', 'pause', ID)
  expect(asked.at(-1)?.body).toEqual({ paused: true })
  expect((await terrane('hooks', 'dead', '--hook', ID)).stdout.trim().split('\n')).toHaveLength(2)
  expect((await terrane('hooks', 'resend', '7')).stdout).toBe('1 event sent again\n')
  expect(asked.at(-1)?.body).toEqual({ ids: ['7'] })
  expect((await terrane('hooks', 'delete', ID)).code).toBe(0)
})

test('stored files are listed, saved, linked to and deleted by bucket/path', async () => {
  answers['POST /storage/v1/object/list-v2/uploads'] = [
    200,
    { objects: [{ key: 'a/b c.csv', updated_at: null, metadata: { size: 5 } }], hasNext: false },
  ]
  answers['GET /storage/v1/object/uploads/a/b%20c.csv'] = [200, 'text']
  answers['POST /storage/v1/object/sign/uploads/a/b%20c.csv'] = [200, { signedURL: '/object/sign/x?token=t' }]
  answers['DELETE /storage/v1/object/uploads/a/b%20c.csv'] = [200, {}]
  expect((await terrane('files', 'list', 'uploads')).stdout).toContain('uploads/a/b c.csv  5')
  const to = join(folder, 'saved.csv')
  expect((await terrane('files', 'download', 'uploads/a/b c.csv', to)).stdout).toBe(`${to}\n`)
  expect(await readFile(to, 'utf8')).toBe('"text"')
  expect((await terrane('files', 'link', 'uploads/a/b c.csv')).stdout).toMatch(
    /\/storage\/v1\/object\/sign\/x\?token=t\n$/,
  )
  expect((await terrane('files', 'delete', 'uploads/a/b c.csv')).stderr).toContain('--yes')
  expect((await terrane('files', 'delete', 'uploads/a/b c.csv', '--yes')).code).toBe(0)
  expect((await terrane('files', 'delete', 'uploads/../keys', '--yes')).stderr).toContain('is not bucket/path')
})

test('whoami names the role of the key and the project, and fails where the key is refused', async () => {
  answers['GET /worker/capacity'] = [200, {}]
  const claims = Buffer.from(JSON.stringify({ role: 'service_role' })).toString('base64url')
  vi.stubEnv('TERRANE_SERVICE_ROLE_KEY', `x.${claims}.y`)
  const { code, stdout } = await terrane('whoami')
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^service_role on http:\/\/127\.0\.0\.1:\d+\n$/)])
  answers['GET /worker/capacity'] = [401, { code: 'UNAUTHENTICATED', message: 'The key has ended' }]
  expect(await terrane('whoami')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The key has ended') as string,
  })
})
