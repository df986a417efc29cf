import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, PATIENT, settingsOf, type TestOrigin } from '../harness.ts'

// GDAL's driver of OGC API Features reads the same rows by pages, boxes, filters and systems as SQL does.

// oxlint-disable-next-line node/no-process-env -- The path of the peer depends on the machine.
const [program = '', ...first] = (process.env['TERRANE_TEST_OGR2OGR'] ?? '/usr/bin/ogr2ogr').split(' ')
const isHere = existsSync(program)

let origin: TestOrigin
beforeAll(async () => {
  if (!isHere) return
  // The 500 rows are read in 10 pages.
  origin = await openOrigin(settingsOf({ rest: { ...PATIENT, maxRows: 50 } }))
  await origin.db.database.query(`
    create table public.spots (id int primary key, name text, weight float8, seen timestamptz, geom geometry(Point, 25832));
    insert into public.spots select i, 'spot ' || (i % 20), i / 4.0, timestamptz '2024-01-01T00:00:00Z' + i * interval '1 hour',
      st_transform(st_setsrid(st_point(11 + (i % 25) * 0.01, 48 + (i / 25) * 0.01), 4326), 25832) from generate_series(1, 500) i;
    grant select on public.spots to anon`)
}, 120_000)
afterAll(() => origin?.[Symbol.asyncDispose]())

interface Row {
  readonly properties: { readonly id?: number; readonly name: string; readonly weight: number }
  readonly geometry: { readonly coordinates: readonly [number, number] }
}

async function read(...options: string[]): Promise<readonly Row[]> {
  const args = [...first, '-f', 'GeoJSON', '/vsistdout/', `OAPIF:${origin.url}/ogc/v1`, 'public.spots', ...options]
  const env = { GDAL_HTTP_AUTH: 'BEARER', GDAL_HTTP_BEARER: origin.keys.anon, PATH: '/usr/bin:/bin' }
  const { stdout } = await promisify(execFile)(program, args, { env, maxBuffer: 1 << 26, timeout: 120_000 })
  return (JSON.parse(stdout) as { features: Row[] }).features
}

const weightsBy = async (where: string) => {
  const { rows } = await origin.db.database.query<{ weight: number }>(
    `select weight from public.spots where ${where} order by weight`,
  )
  return rows.map(({ weight }) => weight)
}
const weightsOf = (rows: readonly Row[]) => rows.map(({ properties }) => properties.weight).toSorted((a, b) => a - b)

describe.skipIf(!isHere)(`${isHere ? '' : 'SKIPPED: TERRANE_TEST_OGR2OGR is not here. '}GDAL`, () => {
  test('reads all pages', async () => {
    expect(weightsOf(await read())).toEqual(await weightsBy('true'))
  }, 240_000)

  test.each([
    ["name = 'spot 3' AND weight > 50", "name = 'spot 3' and weight > 50"],
    ["name LIKE 'spot 1%' OR weight < 3", "name like 'spot 1%' or weight < 3"],
    ["NOT (name ILIKE 'SPOT 1%')", "not name ilike 'SPOT 1%'"],
    ["seen > '2024/01/05 00:00:00'", "seen > '2024-01-05T00:00:00Z'"],
    ['weight BETWEEN 10 AND 12', 'weight between 10 and 12'],
  ])(
    'filters by %s',
    async (theirs, ours) => {
      const rows = await read('-where', theirs)
      expect(rows.length).toBeGreaterThan(0)
      expect(weightsOf(rows)).toEqual(await weightsBy(ours))
    },
    240_000,
  )

  test('takes a box', async () => {
    const box = ['11.045', '48.015', '11.095', '48.075']
    const wanted = await weightsBy(`st_intersects(st_transform(geom, 4326), st_makeenvelope(${box.join()}, 4326))`)
    expect(wanted.length).toBeGreaterThan(10)
    expect(weightsOf(await read('-oo', 'CRS=OGC:CRS84', '-spat', ...box))).toEqual(wanted)
  }, 240_000)

  test.each(['EPSG:25832', 'EPSG:4326', 'EPSG:3857'])(
    'has the same places from %s',
    async (crs) => {
      const places = (rows: readonly Row[]) =>
        rows
          .toSorted((a, b) => a.properties.weight - b.properties.weight)
          .map(({ geometry }) => geometry.coordinates.map((value) => value.toFixed(5)))
      const theirs = await read('-oo', `CRS=${crs}`, '-t_srs', 'OGC:CRS84')
      expect(places(theirs)).toEqual(places(await read('-oo', 'CRS=OGC:CRS84')))
    },
    240_000,
  )
})
