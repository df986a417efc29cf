// Compares the FlatGeobuf writer of this package with the flatgeobuf library: time and memory, each run in its own
// process. Rows come as the database returns them: WKB for this package, one GeoJSON collection for the library.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Warnings } from '@terrane/core/errors'
import { wkbOfGeoJson, type GeoJsonGeometry } from '@terrane/core'
import { geojson } from 'flatgeobuf'
import type { ExportRow } from '../src/rows.ts'
import type { ExportSource } from '../src/source.ts'
import { flatGeobufBytes } from '../src/write/flatgeobuf/stream.ts'

const ROUNDS = 3
const BATCH = 1000
const SIZES = [10_000, 200_000]
const CORNERS = 12

interface Run {
  readonly seconds: number
  readonly bytes: number
  readonly size: number
  readonly hash: string
}

function compare(size: number): void {
  const best = { ours: measured('ours', size), theirs: measured('theirs', size) }
  for (let i = 1; i < ROUNDS; i++) {
    for (const name of ['ours', 'theirs'] as const) {
      const next = measured(name, size)
      if (next.seconds < best[name].seconds) best[name] = next
    }
  }
  if (best.ours.hash !== best.theirs.hash) throw new Error('the files hold different features')
  console.log(`${size} polygons: ours ${line(best.ours)}; the library ${line(best.theirs)}; the same features`)
  const [time, memory] = [best.ours.seconds / best.theirs.seconds, best.ours.bytes / best.theirs.bytes]
  console.log(
    `  time ${time.toFixed(2)}, memory ${memory.toFixed(2)}, bytes ${(best.ours.size / best.theirs.size).toFixed(3)} of the library's`,
  )
}

function line({ seconds, bytes }: Run): string {
  return `${seconds.toFixed(2)} s, ${(bytes / 2 ** 20).toFixed(0)} MiB`
}

function measured(name: string, size: number): Run {
  const args = ['--expose-gc', fileURLToPath(import.meta.url), name, String(size)]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Run
}

async function run(name: string, size: number): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'flatgeobuf-bench-'))
  try {
    const path = join(folder, 'a.fgb')
    const write = name === 'ours' ? ours : theirs
    await write(10, path)
    globalThis.gc!()
    const before = process.memoryUsage.rss()
    const start = performance.now()
    await write(size, path)
    const seconds = (performance.now() - start) / 1000
    const bytes = process.resourceUsage().maxRSS * 1024 - before
    const hash = createHash('sha256')
    const file = readFileSync(path)
    for await (const { properties, geometry } of geojson.deserialize(file)) {
      hash.update(JSON.stringify([geometry, properties]))
    }
    return { seconds, bytes, size: file.length, hash: hash.digest('hex') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Rows are made while they are written, as a database sends them. */
function geometryText(i: number): string {
  const ring = Array.from({ length: CORNERS }, (_, k) => {
    const angle = (k / (CORNERS - 1)) * 2 * Math.PI
    return [(i % 300) + Math.cos(angle) / 3, (i % 80) + Math.sin(angle) / 3]
  })
  return JSON.stringify({ type: 'Polygon', coordinates: [[...ring.slice(0, -1), ring[0]!]] })
}

const column = { precision: null, scale: null, scan: { sql: '', type: 'text' } } as const
const SOURCE: ExportSource = {
  from: '',
  name: 'areas',
  columns: [
    { ...column, name: 'id', kind: 'float8' },
    { ...column, name: 'name', kind: 'text' },
  ],
  geometry: { name: 'geom', srid: 4326, isDeclared: true, types: [3], shapes: [3] },
  estimatedRows: null,
}

async function ours(size: number, path: string): Promise<void> {
  async function* batches(): AsyncGenerator<ExportRow[]> {
    for (let from = 0; from < size; from += BATCH) {
      yield Array.from({ length: Math.min(BATCH, size - from) }, (_, k) => ({
        values: [from + k, `area ${from + k}`],
        geometry: wkbOfGeoJson(JSON.parse(geometryText(from + k)) as GeoJsonGeometry),
      }))
    }
  }
  await writeFile(path, flatGeobufBytes(SOURCE, batches(), new Warnings()))
}

async function theirs(size: number, path: string): Promise<void> {
  const features = Array.from({ length: size }, (_, i) => ({
    type: 'Feature' as const,
    properties: { id: i, name: `area ${i}` },
    geometry: JSON.parse(geometryText(i)) as GeoJSON.Polygon,
  }))
  await writeFile(path, geojson.serialize({ type: 'FeatureCollection', features }))
}

const [who, count] = process.argv.slice(2)
if (who) process.stdout.write(JSON.stringify(await run(who, Number(count))))
else for (const size of SIZES) compare(size)
