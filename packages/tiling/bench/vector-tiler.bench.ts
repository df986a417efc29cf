// The tiler compared with tippecanoe on the same GeoJSON lines, from file to archive, each run in a process of its own:
// at equal coverage (`-r1 --drop-densest-as-needed`), and the peer's default beside a dropRate of 2.5.
//
//   TIPPECANOE   command of the peer, default `tippecanoe`; without it only this package is measured, with a notice
//   BENCH_DIR    where files go, default a temporary directory; PEER_DIR is that directory as the peer sees it
//   ROADS, BUILDINGS, POINTS, LANDUSE   GeoJSON lines to take instead of the generated town, which has no land use
//   ROUNDS       rounds of each, interleaved; 3 when absent
import { execFileSync } from 'node:child_process'
import { createWriteStream, mkdtempSync, readFileSync, statSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { readArchive } from '../test/vector/read-archive.ts'
import type { ReadArchive } from '../test/vector/read-archive.ts'
import type { TestFeature } from '../test/vector/feature-source.ts'
import { buildings, points, roads } from './vector/city.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
/** Compared settings: the peer's options, and our drop rate. */
const WAYS = [
  { name: 'equal coverage', options: ['-r1', '--drop-densest-as-needed'], dropRate: '1' },
  { name: 'default', options: [], dropRate: '2.5' },
] as const
const MAX_TILE_BYTES = 500_000
const directory = process.env['BENCH_DIR'] ?? mkdtempSync(join(tmpdir(), 'vector-bench-'))
const peerDirectory = process.env['PEER_DIR'] ?? directory
const [peer, ...peerArguments] = (process.env['TIPPECANOE'] ?? 'tippecanoe').split(' ') as [string, ...string[]]
const hasPeer = canRun()
if (!hasPeer) console.log(`SKIPPED the comparison: '${peer}' cannot be run (set TIPPECANOE)`)

await compareAll('roads', process.env['ROADS'], () => roads(100_000))
await compareAll('buildings', process.env['BUILDINGS'], () => buildings(50_000))
await compareAll('points', process.env['POINTS'], () => points(500_000))
if (process.env['LANDUSE']) await compareAll('landuse', process.env['LANDUSE'], () => [])

async function compareAll(
  name: string,
  file: string | undefined,
  generate: () => Iterable<TestFeature>,
): Promise<void> {
  const input = join(directory, `${name}.geojsonl`)
  if (!file) await write(input, generate())
  else if (file !== input) await copyFile(file, input)
  for (const way of WAYS) await compare(name, input, way)
}

async function compare(name: string, input: string, way: (typeof WAYS)[number]): Promise<void> {
  const lines = readFileSync(input, 'utf8').trimEnd().split('\n')
  const features = lines.length
  // The peer takes all properties.
  const attributes = [
    ...new Set(lines.flatMap((line) => Object.keys((JSON.parse(line) as TestFeature).properties ?? {}))),
  ]
  const ours: number[] = []
  const theirs: number[] = []
  let peerEnds = hasPeer
  for (let round = 0; round < ROUNDS; round++) {
    const script = fileURLToPath(new URL('./vector/tile-file.ts', import.meta.url))
    const our = join(directory, `${name}.ours.pmtiles`)
    ours.push(timed(process.execPath, [script, input, our, attributes.join(','), way.dropRate]))
    if (!peerEnds) continue
    const output = join(peerDirectory, `${name}.theirs.pmtiles`)
    const peerInput = join(peerDirectory, `${name}.geojsonl`)
    const options = ['-q', '-f', '-z14', ...way.options, '-P', '-l', 'features', '-o', output, peerInput]
    try {
      theirs.push(timed(peer, [...peerArguments, ...options]))
    } catch (error) {
      peerEnds = false
      console.log(`${name}, ${way.name}: the peer fails: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const archive = await report(`${name}, ${way.name}: ours`, ours, join(directory, `${name}.ours.pmtiles`))
  const largest = Math.max(...archive.tiles.map(({ bytes }) => bytes))
  if (largest > MAX_TILE_BYTES) throw new Error(`a tile has ${largest} bytes`)
  if (countAt(archive, 14) !== features) throw new Error(`${countAt(archive, 14)} of ${features} features at zoom 14`)
  if (!peerEnds) return
  await report(`${name}, ${way.name}: tippecanoe`, theirs, join(directory, `${name}.theirs.pmtiles`))
  const sizes = ['ours', 'theirs'].map((side) => statSync(join(directory, `${name}.${side}.pmtiles`)).size) as [
    number,
    number,
  ]
  console.log(
    `${name}, ${way.name}: RATIO speed ${(median(theirs) / median(ours)).toFixed(2)}x, bytes ${(sizes[0] / sizes[1]).toFixed(3)}`,
  )
}

async function report(label: string, seconds: readonly number[], path: string): Promise<ReadArchive> {
  const bytes = Uint8Array.from(readFileSync(path))
  const archive = await readArchive(bytes)
  const largest = Math.max(...archive.tiles.map((tile) => tile.bytes))
  console.log(
    `${label}: ${seconds.map((s) => s.toFixed(2)).join(', ')} s; ${bytes.length} bytes, ${archive.tiles.length} tiles, ` +
      `largest ${largest}; features at z6/z10/z14: ${[6, 10, 14].map((zoom) => countAt(archive, zoom)).join(' / ')}`,
  )
  return archive
}

/** Number of different features at a zoom, by id; features without an id count as one. */
function countAt({ tiles }: ReadArchive, zoom: number): number {
  return new Set(tiles.filter((tile) => tile.zoom === zoom).flatMap(({ features }) => features.map(({ id }) => id)))
    .size
}

async function write(path: string, features: Iterable<TestFeature>): Promise<void> {
  const out = createWriteStream(path)
  for (const { id, geometry, properties } of features) {
    const kept = Object.fromEntries(Object.entries(properties ?? {}).filter(([, value]) => value !== null))
    out.write(`${JSON.stringify({ type: 'Feature', id, properties: kept, geometry })}\n`)
  }
  await finished(out.end())
}

function timed(command: string, args: readonly string[]): number {
  const start = performance.now()
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  return (performance.now() - start) / 1000
}

function canRun(): boolean {
  try {
    execFileSync(peer, [...peerArguments, '--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}
