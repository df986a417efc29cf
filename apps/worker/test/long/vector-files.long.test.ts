import { createReadStream, existsSync } from 'node:fs'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TerraneError } from '@terrane/core'
import { openTestDatabase, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sniffFile } from '../../src/jobs/ogr/obtain/sniff.ts'
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
  layers: ['LAYERS_EMPTY'],
  rows: ['ROWS_REJECTED', 'GEOMETRY_NOT_FINITE', 'FEATURES_NOT_CONVERTED'],
  columns: [],
  type: ['VALUES_UNREADABLE'],
  value: [
    'VALUES_UNREADABLE',
    'NUL_REMOVED',
    'TEXT_NOT_UTF8',
    'ENCODING_GUESSED',
    'TIMES_COMPLETED',
    'TIMES_UNREADABLE',
  ],
  srid: [],
  geometry: ['GEOMETRY_UNREADABLE'],
  dimensions: ['DIMENSIONS_FILLED'],
  curve: ['CURVES_LINEARIZED'],
}

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
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.expected.gpkg'))
      .map((entry) => join(entry.parentPath, entry.name).slice(folder!.length + 1))
      .filter((path) => !path.startsWith('.') && only.test(path))
      .toSorted()
    const outcomes: Outcome[] = []
    const next = files.values()
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const file of next) outcomes.push(await tryFile(file))
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
    const named = /\.km[lz]$/i.test(file) ? 'KML' : /\.gdb\.zip$/i.test(file) ? 'OpenFileGDB' : format
    let path = await convertNatively(peer, file, named)
    let layers: NativeLayer[] = path === null ? [] : nativeLayers(path)
    const filled = layers.filter(({ rows, hasGeometry }) => rows > 0 && hasGeometry)
    const body: Record<string, unknown> = {}
    let tolerance = NEAR
    if (filled.some(({ srid }) => srid === undefined)) {
      path = await convertNatively(peer, file, named, ['-t_srs', 'EPSG:4326'])
      layers = path === null ? [] : nativeLayers(path)
      tolerance = TRANSFORMED
    } else if (filled[0]?.srid) body['targetSrs'] = `EPSG:${filled[0].srid}`
    if (filled.some(({ srid }) => srid === null)) body['sourceSrs'] = 'EPSG:4326'
    const about = { file, format }
    let result: ImportResult
    const size = (await stat(join(folder!, file))).size
    const source = { size, open: () => createReadStream(join(folder!, file)) }
    try {
      result = await importFile(db.database, source, body, AbortSignal.timeout(TIMEOUT_MS))
    } catch (error) {
      const said =
        error instanceof TerraneError ? `${error.code}: ${error.message}` : `UNEXPECTED ${(error as Error).stack}`
      const isNothing = layers.every(({ rows }) => rows === 0)
      return {
        ...about,
        verdict: isNothing ? 'neither' : 'refused',
        error: said.slice(0, 300),
        warnings: [],
        differences: [],
      }
    }
    const warnings = result.warnings.map(({ code }) => code)
    const { tables } = result
    try {
      if (path === null) return { ...about, verdict: 'ours alone', warnings, differences: [] }
      const differences = await compareLayers(db.database, layers, tables, tolerance)
      const isNamed = differences.every(({ kind }) => NAMED_BY[kind].some((code) => warnings.includes(code)))
      const verdict = differences.length === 0 ? 'equal' : isNamed ? 'named' : 'differs'
      return { ...about, verdict, warnings, differences }
    } finally {
      for (const { table } of tables)
        await db.database.query(
          `drop table ${table
            .split('.')
            .map((n) => `"${n.replaceAll('"', '""')}"`)
            .join('.')}`,
        )
    }
  }
})
