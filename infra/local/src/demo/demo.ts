import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@supabase/supabase-js'
import type { Keys } from '../keys.ts'
import { say } from '../log.ts'
import type { Stack } from '../stack.ts'
import { callFunctions } from './call-functions.ts'
import { crossTown } from './cross-town.ts'
import { drawMatches, type Match } from './picture.ts'
import { ProgressBar } from './progress-bar.ts'
import { SCENE } from './scene-map.ts'
import { writeScene } from './scene.ts'
import { TOWN_BBOX, TOWN_FILE } from './town.ts'

const TABLE = 'demo_scene'
const MODEL = 'builtin-texture-spectral-v2'
const TILE = 256
/** Position in the forest, in pixels of the scene: the search is for tiles similar to its tile. */
const QUERY = { x: 880, y: 900 }
const MATCHES = 8
/** Tables that become tiles. */
const ARCHIVED = ['demo_streets', 'demo_buildings']

interface Job {
  readonly status: 'pending' | 'running' | 'success' | 'failed'
  readonly progress: {
    readonly percent: number | null
    readonly message: string
    readonly eta_seconds: number | null
  } | null
  readonly result: {
    readonly rows: number
    readonly dims: number
    readonly timings: Readonly<Record<string, number>>
  } | null
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null } | null
  readonly links: { readonly self: string }
}

/**
 * Uses the stack as users would, over HTTP and with supabase-js: embeds a scene and searches for similar tiles, imports
 * the demo town, makes tiles of two of its tables, computes a route, and calls the example functions. Results of an
 * earlier start are reused. A failed step is reported and the next one runs; returns whether all of them worked.
 */
export async function runDemo(stack: Stack, keys: Keys, home: string, signal: AbortSignal): Promise<boolean> {
  const steps: Readonly<Record<string, () => Promise<void>>> = {
    'search in a scene': () => searchScene(stack, keys, home),
    'import of the town': () => importTown(stack, keys),
    'archive of its tables': () => archiveTown(stack, keys),
    'route across it': () => crossDemoTown(stack, keys),
    'calls of functions': () => callExamples(stack, keys),
  }
  return runSteps(steps, signal)
}

/** Runs steps in order, also after a failed one; returns false when one failed. The signal ends them silently. */
export async function runSteps(
  steps: Readonly<Record<string, () => Promise<void>>>,
  signal: AbortSignal,
): Promise<boolean> {
  const failed: string[] = []
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step()
    } catch (error) {
      if (signal.aborted) return false
      failed.push(name)
      say(`The demo's ${name} failed: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  if (failed.length > 0)
    say(`${failed.length} of ${Object.keys(steps).length} steps of the demo failed; the stack is up.`)
  return failed.length === 0
}

async function crossDemoTown(stack: Stack, keys: Keys): Promise<void> {
  if (process.env['TERRANE_ROUTING_OSM'])
    say('The demo asks for no route: the graph is of TERRANE_ROUTING_OSM, not of the demo town.')
  else await crossTown(stack, keys)
}

async function callExamples(stack: Stack, keys: Keys): Promise<void> {
  if (process.env['TERRANE_FUNCTIONS_DIR'])
    say('The demo calls no function: those of TERRANE_FUNCTIONS_DIR are served.')
  else await callFunctions(stack, keys, TABLE)
}

/** Makes the scene and its embeddings, calls similarity_search, draws the matches. */
async function searchScene(stack: Stack, keys: Keys, home: string): Promise<void> {
  const scene = join(home, 'data', 'demo-scene.tif')
  if (!existsSync(scene)) {
    say(`Making the demo scene (${SCENE.size} × ${SCENE.size} pixels, 4 bands) ...`)
    await writeScene(scene)
  }
  const client = createClient(stack.originUrl, keys.anonKey, {
    db: { schema: 'geoembeddings' as 'public' },
    auth: { persistSession: false, autoRefreshToken: false },
  })
  const { data: known, error: unreadable } = await client
    .from('embeddings_catalogue')
    .select('rows')
    .eq('table_name', TABLE)
  if (unreadable) throw new Error(`reading the catalogue failed: ${unreadable.message}`)
  if (known.length > 0) say(`The table geoembeddings.${TABLE} is there from an earlier start.`)
  else {
    const body = { geotiffPath: scene, tableName: TABLE, modelName: MODEL, tileSize: TILE, bands: [0, 1, 2] }
    const { rows, dims, timings } = (await runJob(stack, keys, 'createGeoEmbeddings', body)) as {
      rows: number
      dims: number
      timings: { total: number; embed: number }
    }
    say(
      `geoembeddings.${TABLE}: ${rows} rows of ${dims} dimensions in ${timings.total} s (${(rows / timings.embed).toFixed(0)} tiles/s).`,
    )
  }

  const columns = Math.ceil(SCENE.size / TILE)
  const patch = Math.floor(QUERY.y / TILE) * columns + Math.floor(QUERY.x / TILE)
  say(`Tiles like tile ${patch}, by similarity_search through supabase-js:`)
  const { data, error } = await client.rpc('similarity_search', {
    table_name: TABLE,
    patch_id: patch,
    result_limit: MATCHES + 1,
  })
  if (error) throw new Error(`similarity_search failed: ${error.message}`)
  const matches = (data as Match[]).filter((match) => match.id !== patch)
  if (matches.length < MATCHES) throw new Error(`similarity_search found ${matches.length} tiles, not ${MATCHES}`)
  for (const { id, similarity } of matches) {
    const place = `column ${String(id % columns).padStart(2)}  row ${String(Math.floor(id / columns)).padStart(2)}`
    say(`  tile ${String(id).padStart(4)}  ${place}  similarity ${similarity.toFixed(4)}`)
  }
  const picture = join(home, 'demo.png')
  await drawMatches(scene, picture, { tile: TILE, query: patch, matches })
  say(`The scene with the query tile and its matches outlined: ${picture}`)
}

/** Imports the demo town's map from a file under the worker's data roots. */
async function importTown(stack: Stack, keys: Keys): Promise<void> {
  const client = createClient(stack.originUrl, keys.serviceRoleKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  })
  const { error } = await client.from('demo_buildings').select('id').limit(1)
  if (!error) return say('The tables demo_… are there from an earlier start.')
  const [west, south, east, north] = TOWN_BBOX
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  const body = {
    areaName: 'The demo town',
    tablePrefix: 'demo',
    aoiGeoJson: { type: 'Polygon', coordinates: [ring] },
    source: { kind: 'file', path: TOWN_FILE },
  }
  const { tables, attribution } = (await runJob(stack, keys, 'osmImportArea', body)) as {
    tables: { name: string; rows: number; geometry_type: string }[]
    attribution: string
  }
  const filled = tables.filter((table) => table.rows > 0)
  say(
    `Imported ${filled.length} tables (${attribution}): ${filled.map((table) => `${table.name} ${table.rows}`).join(', ')}`,
  )
}

/** Makes an archive of the most important layers of the map, and prints its URL. */
async function archiveTown(stack: Stack, keys: Keys): Promise<void> {
  const client = createClient(stack.originUrl, keys.serviceRoleKey, {
    auth: { persistSession: false, autoRefreshToken: false },
  })
  const { data: bucket } = await client.storage.getBucket('pmtiles')
  if (!bucket) {
    const { error } = await client.storage.createBucket('pmtiles', { public: true })
    if (error) throw new Error(`making the bucket pmtiles failed: ${error.message}`)
  }
  for (const table of ARCHIVED) {
    const url = client.storage.from('pmtiles').getPublicUrl(`${table}.pmtiles`).data.publicUrl
    const there = await fetch(url, { method: 'HEAD' })
    if (!there.ok) {
      const { bytes, tiles, maxzoom } = (await runJob(stack, keys, 'archiveToPmtiles', { table, zooms: [8, 14] })) as {
        bytes: number
        tiles: number
        maxzoom: number
      }
      say(`${table}: ${tiles} tiles to zoom ${maxzoom}, ${Math.round(bytes / 1024)} KiB`)
    }
    say(`PMTiles: ${url}`)
  }
}

/** Enqueues a job over HTTP, shows its progress and returns its result. */
async function runJob(
  stack: Stack,
  keys: Keys,
  task: string,
  input: object,
): Promise<Readonly<Record<string, unknown>>> {
  const headers = {
    apikey: keys.serviceRoleKey,
    authorization: `Bearer ${keys.serviceRoleKey}`,
    'content-type': 'application/json',
  }
  const response = await fetch(`${stack.workerUrl}/jobs/${task}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(input),
  })
  let job = (await response.json()) as Job & { message?: string }
  if (response.status !== 202) throw new Error(`the worker answered ${response.status}: ${job.message}`)
  say(`Enqueued: ${stack.workerUrl}${job.links.self}`)
  const bar = new ProgressBar(task)
  while (job.status === 'pending' || job.status === 'running') {
    const { percent = null, message = 'waiting', eta_seconds: eta = null } = job.progress ?? {}
    if (percent !== null) bar.show(percent, `${message}${eta === null ? '' : `, ${eta.toFixed(0)} s left`}`)
    await sleep(300)
    job = (await (await fetch(`${stack.workerUrl}${job.links.self}`, { headers })).json()) as Job
  }
  if (job.status === 'success') bar.show(100, 'done')
  bar.end()
  if (!job.result) throw new Error(`${task} failed: ${job.error?.code} ${job.error?.message} ${job.error?.hint ?? ''}`)
  return job.result
}
