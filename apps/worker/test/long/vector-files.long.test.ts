import { createReadStream, existsSync } from 'node:fs'
import { appendFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TerraneError } from '@terrane/core'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sniffFile } from '@terrane/files/testing'
import { wasmEngine } from '@terrane/files'
import { importFile, type ImportResult } from '../import-file.ts'
import { compareLayers, type Difference } from './vector-files/compare.ts'
import { convertNatively, nativeLayers, type NativeLayer, type Peer } from './vector-files/native.ts'
import { sharedFolder } from './shared.ts'

// Every file of a folder, imported by the job and converted by native ogr2ogr: what differs must be said in warnings.
//
//   TERRANE_TEST_FILES       the folder; default vector/ of the shared data
//   TERRANE_TEST_FILES_PEER  that folder as the peer sees it, where it sees it elsewhere
//   TERRANE_TEST_OGR2OGR     command of the peer
//   TERRANE_TEST_ONLY        a regular expression: only files whose path it finds
/* oxlint-disable node/no-process-env -- Where files and peers are is a matter of the machine. */
const folder = process.env['TERRANE_TEST_FILES'] ?? sharedFolder('data/vector')
const command = (process.env['TERRANE_TEST_OGR2OGR'] ?? '/usr/bin/ogr2ogr').split(' ')
const seenAs = process.env['TERRANE_TEST_FILES_PEER'] ?? folder
const only = new RegExp(process.env['TERRANE_TEST_ONLY'] ?? '')
/* oxlint-enable node/no-process-env */
const isHere = folder !== null && existsSync(folder) && existsSync(command[0]!)

const AT_ONCE = 2
const TIMEOUT_MS = 90_000
/** A tenth of a millimetre in metres of 1e6, far below a micrometre in degrees. */
const NEAR = 1e-10
/** A file of a system that has no code goes through two implementations of its projection. */
const TRANSFORMED = 1e-7
/** Codes of warnings that speak of each kind of difference. */
const NAMED_BY: Readonly<Record<Difference['kind'], readonly string[]>> = {
  layers: ['LAYERS_UNREADABLE', 'OVERLAYS_LEFT_OUT', 'TABLES_LEFT_OUT', 'MEMBERS_LEFT_OUT', 'FILES_SKIPPED'],
  rows: ['ROWS_REJECTED', 'GEOMETRY_NOT_FINITE', 'FEATURES_NOT_CONVERTED', 'OVERLAYS_LEFT_OUT', 'MEMBERS_LEFT_OUT'],
  columns: ['OVERLAYS_LEFT_OUT', 'MEMBERS_LEFT_OUT', 'TABLES_LEFT_OUT'],
  type: ['VALUES_UNREADABLE'],
  value: [
    'VALUES_UNREADABLE',
    'NUL_REMOVED',
    'TEXT_NOT_UTF8',
    'ENCODING_GUESSED',
    'TIMES_COMPLETED',
    'TIMES_UNREADABLE',
    'GEOMETRY_NOT_FINITE',
    'MEMBERS_LEFT_OUT',
  ],
  srid: [],
  geometry: [
    'GEOMETRY_UNREADABLE',
    'GEOMETRY_INVALID',
    'GEOMETRY_NOT_FINITE',
    'CURVES_LINEARIZED',
    'MEMBERS_LEFT_OUT',
    'SYSTEM_WITHOUT_CODE',
    'SPLINES_FLAT',
  ],
  dimensions: ['DIMENSIONS_FILLED', 'SPLINES_FLAT'],
  curve: ['CURVES_LINEARIZED'],
}
/** Files that native reads wrongly, and why. */
const NATIVE_IS_WRONG: readonly (readonly [RegExp, string])[] = [
  [/flatgeobuf.*alldatatypes\.fgb$/, 'reads a signed byte as an unsigned one'],
  [/kml_ID_simple_field/, 'puts a field of the user in place of the id of the placemark'],
  [/twopoints\.kml$/, 'takes the first of two placemarks that stand in no document'],
  [/schemalessExtendedData\.kml$/, 'puts fields whose names differ in case into one'],
  [/geojson_test_type_promotion/, 'makes numbers of truth values where a field has both'],
  [/ozi_ellips\.csv$/, 'loses numbers with a blank behind them'],
  [/s57attributes\.csv$/, 'takes a column of letters for one of truth values'],
  [/(-z?m_(native|interleaved)|point_zm\.arrow)/, 'has no measures, or takes them for heights'],
  [/list_field_values_file\.parquet$/, 'makes zeros and empty texts of nulls in lists'],
  [/timespan\.kml$/, 'leaves a ring open'],
  [/gpx_with_garmin_extension\.gpx$/, 'takes elements within an extension for a whole number, 0'],
  [/gpx1\.1_with_extensions/, 'drops line breaks of the texts within an extension'],
  [/test-data\/csv__[\w-]+\.csv$/, 'takes columns called x and y for fractions, whatever they hold'],
  [/kml__timezones\.kml$/, 'takes one ring of several that stand in one inner boundary'],
  [
    /__(obs|obs_malformatted|test__a|a|lincoln-park-gc-errors)\.csv$/,
    'takes columns of coordinates for fractions, whatever they hold',
  ],
  [/leaflet-omnivore.*a\.kml$/, 'takes the first of two placemarks that stand in no document'],
  [/utf-16-be.*\.csv$/, 'reads UTF-16 of the other byte order as bytes'],
  [/populated_places_simple\.csv$/, 'takes the word nan for a number'],
  [/example__files__example_.*\.tsv$/, 'finds no geometries in a table of a single column'],
  [/dop-vdop\.csv$/, 'takes letters for truth values, and counts columns without a name otherwise'],
  [/geoarrow-csv__example\.csv$/, 'leaves the text of geometries whose column has another name'],
  [/test_eurostat\.tsv$/, 'takes columns apart by a convention of one publisher'],
  [/multicurve\.gml$/, 'has the corners of the box around a feature as columns'],
  [/DataTypesFormats\.xlsx$/, 'takes the day alone of moments, and numbers for times of day'],
  [/streamtube-basic\.csv$/, 'takes columns called x and y for fractions, whatever they hold'],
  [/fmi_test\.gml$/, 'leaves times as texts'],
  [/sheet_visibility.*\.csv$/, 'takes columns called x and y for fractions, whatever they hold'],
  [/geojson_srs_name\.geojson$/, 'takes the system of a part for that of all'],
]

interface Outcome {
  readonly file: string
  readonly format: string
  readonly verdict: 'equal' | 'named' | 'differs' | 'refused' | 'ours alone' | 'neither'
  readonly error?: string
  readonly warnings: readonly string[]
  readonly differences: readonly Difference[]
}

test.runIf(!isHere)('SKIPPED: no folder of vector files and native ogr2ogr to compare imports with', () => {
  expect(isHere).toBe(false)
})

describe.runIf(isHere)('beside native ogr2ogr', () => {
  let db: TestDatabase

  beforeAll(async () => {
    db = await openTestDatabase()
    await db.database.query(
      `set time zone 'UTC'; alter database ${JSON.stringify(new URL(db.url).pathname.slice(1))} set timezone = 'UTC'`,
    )
    await mkdir(join(folder!, '.native'), { recursive: true })
  })
  afterAll(() => db[Symbol.asyncDispose]())

  test('every file becomes what native makes of it, or warnings say what differs', { timeout: 3_600_000 }, async () => {
    const files = (await readdir(folder!, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && !/\.(expected\.gpkg|gfs)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name).slice(folder!.length + 1))
      .filter((path) => !path.startsWith('.') && only.test(path))
      .toSorted()
    const outcomes: Outcome[] = []
    const log = join(folder!, '.report.jsonl')
    await writeFile(log, '')
    const next = files.values()
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const file of next) {
          const outcome = await tryFile(file)
          outcomes.push(outcome)
          // An interrupted run keeps its results so far.
          await appendFile(log, `${JSON.stringify(outcome)}\n`)
        }
      }),
    )
    await writeFile(
      join(folder!, '.report.json'),
      JSON.stringify(
        outcomes.toSorted((a, b) => (a.file < b.file ? -1 : 1)),
        null,
        1,
      ),
    )
    const tally = Object.groupBy(outcomes, ({ verdict }) => verdict)
    const counts = Object.entries(tally).map(([verdict, list]) => `${list.length} ${verdict}`)
    process.stdout.write(`${counts.join(', ')}\n`)
    expect(
      (tally.differs ?? []).map(({ file, differences }) => [file, ...differences.map(({ what }) => what)]),
    ).toEqual([])
  })

  async function tryFile(file: string): Promise<Outcome> {
    const format = await sniffFile(join(folder!, file)).catch(() => 'unknown')
    const peer: Peer = { command, folder: folder!, seenAs: seenAs! }
    const named = formatFor(file, format)
    let path = await convertNatively(peer, file, named)
    let layers: NativeLayer[] = path === null ? [] : nativeLayers(path)
    const filled = layers.filter(({ rows, hasGeometry }) => rows > 0 && hasGeometry)
    let tolerance = NEAR
    if (filled.some(({ srid }) => srid === undefined)) {
      path = await convertNatively(peer, file, named, ['-t_srs', 'EPSG:4326'])
      layers = path === null ? [] : nativeLayers(path)
      tolerance = TRANSFORMED
    }
    const about = { file, format }
    const outcomes: { differences: Difference[]; warnings: string[] }[] = []
    try {
      for (const [body, some] of requestsFor(layers, tolerance)) {
        const outcome = await compared(file, body, some, tolerance, path).catch((error: unknown) => {
          // If native imports no layer, it cannot report that the file has no reference system.
          if (path !== null || (error as { code?: string }).code !== 'SOURCE_SRS_NEEDED') throw error
          return compared(file, { sourceSrs: 'EPSG:4326' }, some, tolerance, path)
        })
        outcomes.push(outcome)
      }
    } catch (error) {
      const known = error instanceof TerraneError
      const said = known ? `${error.code}: ${error.message}` : `UNEXPECTED ${(error as Error).stack}`
      const verdict = layers.every(({ rows }) => rows === 0) ? 'neither' : 'refused'
      return { ...about, verdict, error: said.slice(0, 300), warnings: [], differences: [] }
    }
    const differences = outcomes.flatMap((outcome) => outcome.differences)
    const warnings = outcomes.flatMap((outcome) => outcome.warnings)
    if (path === null) return { ...about, verdict: 'ours alone', warnings, differences }
    const isNamed =
      differences.every(({ kind }) => NAMED_BY[kind].some((code) => warnings.includes(code))) ||
      NATIVE_IS_WRONG.some(([pattern]) => pattern.test(file))
    return {
      ...about,
      verdict: differences.length === 0 ? 'equal' : isNamed ? 'named' : 'differs',
      warnings,
      differences,
    }
  }

  async function compared(
    file: string,
    body: object,
    layers: readonly NativeLayer[],
    tolerance: number,
    path: string | null,
  ): Promise<{ differences: Difference[]; warnings: string[] }> {
    const { size } = await stat(join(folder!, file))
    const source = { size, open: () => createReadStream(join(folder!, file)) }
    const { tables, warnings }: ImportResult = await importFile(
      db.database,
      source,
      body,
      AbortSignal.timeout(TIMEOUT_MS),
      { engine: wasmEngine },
    )
    const like = { tolerance, ownGivesMore: /\.km[lz]$/i.test(file) }
    try {
      const differences = path === null ? [] : await compareLayers(db.database, layers, tables, like)
      return { differences, warnings: warnings.map(({ code }) => code) }
    } finally {
      for (const { table } of tables) {
        const name = table.split('.').map((part) => `"${part.replaceAll('"', '""')}"`)
        await db.database.query(`drop table ${name.join('.')}`)
      }
    }
  }
})

/** What native is to take a file for. */
function formatFor(file: string, format: string): string {
  if (/\.km[lz]$/i.test(file)) return 'KML'
  if (/\.gdb\.zip$/i.test(file)) return 'OpenFileGDB'
  return /\.[ct]sv\.(gz|zip)$/i.test(file) ? 'CSV' : format
}

/** One request for all layers, in the system that they have; one for each of those where they have several. */
function requestsFor(layers: readonly NativeLayer[], tolerance: number): [object, readonly NativeLayer[]][] {
  const filled = layers.filter(({ rows, hasGeometry }) => rows > 0 && hasGeometry)
  const bodyFor = (srid: number | null | undefined) =>
    srid === null
      ? { sourceSrs: 'EPSG:4326' }
      : srid === undefined || tolerance === TRANSFORMED
        ? {}
        : { targetSrs: `EPSG:${srid}` }
  const systems = new Set(filled.map(({ srid }) => srid))
  if (systems.size <= 1) return [[bodyFor(filled[0]?.srid), layers]]
  return layers.filter(({ rows }) => rows > 0).map((layer) => [{ layer: layer.name, ...bodyFor(layer.srid) }, [layer]])
}
