import { readdir } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { FileFacts } from '@terrane/contracts'
import { openStore } from '@terrane/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testLane } from '@terrane/database/testing'
import { HEADERS, openWorker, type TestWorker } from './harness.ts'
import { zip } from '@terrane/testing/files'

let worker: TestWorker
beforeAll(async () => {
  worker = await openWorker({ env: { TERRANE_WORKER_CONCURRENCY: '0' } })
  const bucket = { public: false, fileSizeLimit: null, allowedMimeTypes: null }
  await openStore(worker.env['TERRANE_STORAGE']!, worker.env).createBucket('files', bucket)
})
afterAll(() => worker[Symbol.asyncDispose]())

/** Looks at the bytes of a file in storage. */
async function inspect(bytes: string | Buffer, more: object = {}) {
  const store = openStore(worker.env['TERRANE_STORAGE']!, worker.env)
  await store.put('files', 'a', Readable.from([Buffer.from(bytes)]), {
    contentType: 'application/octet-stream',
    upsert: true,
  })
  return post({ storagePath: { bucket: 'files', path: 'a' }, ...more })
}

async function post(payload: object, headers: Readonly<Record<string, string>> = HEADERS) {
  const response = await worker.app.inject({ method: 'POST', url: '/inspect', headers, payload })
  return { status: response.statusCode, body: response.json<FileFacts & { code: string }>() }
}

const collection = (features: readonly object[]) => JSON.stringify({ type: 'FeatureCollection', features })
const feature = (properties: object, type: string, coordinates: unknown) => ({
  type: 'Feature',
  properties,
  geometry: { type, coordinates },
})

describe(`a look at a file (${testLane()})`, () => {
  test('tells rows, types, fields, system and extent in degrees, and keeps nothing', async () => {
    const { status, body } = await inspect('name,x,y\nA,155000,463000\nB,156000,464000\nC,,\n', {
      sourceSrs: 'EPSG:28992',
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      formats: ['CSV'],
      layers: [
        {
          name: 'table',
          rows: 3,
          geometry_types: ['Point'],
          srid: 28992,
          fields: [
            { name: 'name', type: 'text' },
            { name: 'x', type: 'int4' },
            { name: 'y', type: 'int4' },
          ],
        },
      ],
      warnings: [],
    })
    // By PROJ 9: the corners of the two points.
    const wanted = [5.3872, 52.1552, 5.4019, 52.1642]
    for (const [i, degrees] of body.layers[0]!.bbox!.entries()) expect(degrees).toBeCloseTo(wanted[i]!, 3)
    expect(await readdir(worker.env['TERRANE_WORK_DIR']!)).toEqual([])
    const { rows } = await worker.db.database.query('select 1 from terrane.jobs')
    expect(rows).toEqual([])
  })

  test('reads values as an import does, and says the same of what cannot be known', async () => {
    const table = "sep=;\nname;lat;lon;hoehe;seit;anteil\nA;48°30'N;11°30'E;519,25;3/4/2024;12 %\n"
    const { status, body } = await inspect(table, { types: { name: 'text', seit: 'date' } })
    expect(status).toBe(200)
    expect(body.layers).toMatchObject([{ bbox: [11.5, 48.5, 11.5, 48.5] }])
    expect(body.layers[0]!.fields.map(({ type }) => type)).toEqual(['text', 'text', 'text', 'float8', 'date', 'text'])
    expect(body.warnings).toMatchObject([
      { code: 'DATES_GUESSED', examples: ['seit'] },
      { code: 'VALUES_NOT_PLAIN', examples: ['anteil'] },
    ])
    expect(await inspect(table, { types: { nope: 'text' } })).toMatchObject({ body: { code: 'TYPES_UNKNOWN' } })
  })

  test('tells every layer of an archive, and what an import would warn of', async () => {
    const roads = collection([
      feature({ id: 1 }, 'LineString', [
        [1, 2, 3],
        [3, 4, 5],
      ]),
      feature({}, 'MultiPoint', [[0, 9]]),
    ])
    const archive = zip([
      { name: 'roads.geojson', data: Buffer.from(roads) },
      { name: 'stops.csv', data: Buffer.from('a;start_lat;start_lon;end_lat;end_lon\nx;1;2;3;4\n') },
    ])
    const { body } = await inspect(archive)
    expect(body.layers).toMatchObject([
      { name: 'roads', rows: 2, geometry_types: ['LineStringZ', 'MultiPoint'], srid: 4326, bbox: [0, 2, 3, 9] },
      { name: 'stops', rows: 1, geometry_types: [], srid: null, bbox: null },
    ])
    expect(body.warnings).toMatchObject([{ code: 'COORDINATES_DOUBTFUL', layer: 'stops' }])
  })

  test('refuses as an import would: what is no file of features, is not there, or names none', async () => {
    expect(await inspect('no data at all')).toMatchObject({ status: 415, body: { code: 'FORMAT_UNKNOWN' } })
    expect(await post({})).toMatchObject({ status: 422, body: { code: 'FILE_REQUIRED' } })
    expect((await post({ storagePath: { bucket: 'files', path: 'nowhere' } })).status).toBe(404)
    expect((await post({ fileUrl: 'http://127.0.0.1:1/a.csv' })).status).toBe(422)
    expect((await inspect(Buffer.alloc((64 << 20) + 1))).status).toBe(413)
    expect((await post({ storagePath: { bucket: 'files', path: 'a' } }, {})).status).toBe(401)
    expect(await readdir(worker.env['TERRANE_WORK_DIR']!)).toEqual([])
  })

  test('one file of a project is looked at at once', async () => {
    const answers = await Promise.all(Array.from({ length: 3 }, () => inspect('a,lat,lon\n1,2,3\n')))
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses[0]).toBe(200)
    expect(new Set(statuses.slice(1))).toEqual(new Set([429]))
  })
})
