import { spawnSync, type SpawnSyncOptions } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

import type { Trip } from '../../src/index.ts'
import type { Extract } from './extracts.ts'

const ROOT = resolve(import.meta.dirname, '../../../..')
const PEER = join(ROOT, 'infra/peers/valhalla')
const PACKAGE = join(PEER, 'node_modules/@valhallajs/valhallajs')

/** Valhalla's own answers: the text of a response or of an error. */
export interface Valhalla {
  route(request: string): Promise<string>
  traceRoute(request: string): Promise<string>
  locate(request: string): Promise<string>
  matrix(request: string): Promise<string>
  isochrone(request: string): Promise<string>
  optimizedRoute(request: string): Promise<string>
}

/**
 * Opens Valhalla on an extract, with default settings except the pairs of a matrix. Installs it and builds its tiles on
 * first use; null when that fails.
 */
export function openValhalla({ name, path }: Extract, { pairs }: { pairs?: number } = {}): Valhalla | null {
  if (!existsSync(PACKAGE) && !runs('pnpm', ['install', '--ignore-workspace', '--dir', PEER])) {
    console.log('SKIPPED: Valhalla could not be installed (infra/peers/valhalla)')
    return null
  }
  const folder = join(ROOT, '.cache/valhalla', name)
  const config = join(folder, 'config.json')
  if (!existsSync(config) && !buildTiles(folder, config, path)) {
    console.log(`SKIPPED: Valhalla could not build tiles of ${path}`)
    return null
  }
  const { Actor } = createRequire(join(PEER, 'package.json'))('@valhallajs/valhallajs')
  return new Actor(settled(readFileSync(config, 'utf8'), pairs))
}

function buildTiles(folder: string, config: string, extract: string): boolean {
  mkdirSync(folder, { recursive: true })
  const settings = {
    'mjolnir-tile-dir': join(folder, 'tiles'),
    'mjolnir-tile-extract': join(folder, 'tiles.tar'),
    'mjolnir-admin': '',
    'mjolnir-timezone': '',
    'mjolnir-concurrency': '1',
  }
  const flags = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value])
  const made = spawnSync('python3', [join(PACKAGE, 'valhalla_build_config'), ...flags], { encoding: 'utf8' })
  if (made.status !== 0) return false
  const draft = `${config}.part`
  writeFileSync(draft, made.stdout)
  const env = { ...process.env, LD_LIBRARY_PATH: join(PACKAGE, 'linux/x64/lib') }
  const isBuilt =
    runs(join(PACKAGE, 'linux/x64/valhalla_build_tiles'), ['-c', draft, extract], { env, cwd: folder }) &&
    runs('python3', [join(PACKAGE, 'valhalla_build_extract'), '-c', draft])
  if (isBuilt) writeFileSync(config, made.stdout)
  return isBuilt
}

interface Settings {
  readonly [section: string]: { logging?: { type: string } }
}

/**
 * Settings without loggers, which would write between the lines of a bench, and with the given maximum pairs of a
 * matrix.
 */
function settled(config: string, pairs: number | undefined): string {
  const settings = JSON.parse(config) as Settings
  for (const section of Object.values(settings)) if (section.logging !== undefined) section.logging.type = ''
  const limits = settings['service_limits'] as Record<string, { max_matrix_location_pairs?: number }>
  for (const mode of Object.values(limits)) {
    if (pairs !== undefined && mode.max_matrix_location_pairs !== undefined) mode.max_matrix_location_pairs = pairs
  }
  return JSON.stringify(settings)
}

function runs(command: string, flags: readonly string[], options: SpawnSyncOptions = {}): boolean {
  return spawnSync(command, flags, { ...options, stdio: 'ignore' }).status === 0
}

/** Cost of Terrane's shape divided by Valhalla's optimum, by Valhalla; NaN when it cannot follow the shape. */
export async function regretOf(valhalla: Valhalla, text: string, mine: Trip, theirs: Trip): Promise<number> {
  if (mine.legs[0]!.shape === theirs.legs[0]!.shape) return 1
  const { costing, costing_options } = JSON.parse(text) as Record<string, unknown>
  const walk = { encoded_polyline: mine.legs[0]!.shape, shape_match: 'edge_walk', costing, costing_options }
  try {
    const walked = JSON.parse(await valhalla.traceRoute(JSON.stringify(walk))) as { trip: Trip }
    return walked.trip.summary.cost / theirs.summary.cost
  } catch {
    return NaN
  }
}
