import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@supabase/supabase-js'
import type { Keys } from '../settings.ts'
import type { Stack } from '../stack.ts'
import { drawMatches, type Match } from './picture.ts'
import { ProgressBar } from './progress-bar.ts'
import { SCENE } from './scene-map.ts'
import { writeScene } from './scene.ts'

const TABLE = 'demo_scene'
const MODEL = 'builtin-texture-spectral-v1'
const TILE = 256
/** A place at the lake, in the scene's pixels: its tile is the one whose like is looked for. */
const QUERY = { x: 3050, y: 1500 }
const MATCHES = 8

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
 * Uses the stack as a user would: makes a scene, enqueues createGeoEmbeddings over HTTP, waits for it, and asks
 * similarity_search through supabase-js for tiles like one of them. Returns the picture's path.
 */
export async function runDemo(stack: Stack, keys: Keys, home: string): Promise<string> {
  const scene = join(home, 'data', 'demo-scene.tif')
  await mkdir(join(home, 'data'), { recursive: true })
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
  else await embedScene(stack, keys, scene)

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
    say(
      `  tile ${String(id).padStart(4)}  column ${String(id % columns).padStart(2)}  row ${String(Math.floor(id / columns)).padStart(2)}  similarity ${similarity.toFixed(4)}`,
    )
  }
  const picture = join(home, 'demo.png')
  await drawMatches(scene, picture, { tile: TILE, query: patch, matches })
  say(`The scene with the query tile and its matches outlined: ${picture}`)
  return picture
}

async function embedScene(stack: Stack, keys: Keys, scene: string): Promise<void> {
  const headers = {
    apikey: keys.serviceRoleKey,
    authorization: `Bearer ${keys.serviceRoleKey}`,
    'content-type': 'application/json',
  }
  const body = JSON.stringify({
    geotiffPath: scene,
    tableName: TABLE,
    modelName: MODEL,
    tileSize: TILE,
    bands: [0, 1, 2],
  })
  const response = await fetch(`${stack.workerUrl}/jobs/createGeoEmbeddings`, { method: 'POST', headers, body })
  let job = (await response.json()) as Job & { message?: string }
  if (response.status !== 202) throw new Error(`the worker answered ${response.status}: ${job.message}`)
  say(`Enqueued: ${stack.workerUrl}${job.links.self}`)
  const bar = new ProgressBar('createGeoEmbeddings')
  while (job.status === 'pending' || job.status === 'running') {
    const { percent = null, message = 'waiting', eta_seconds: eta = null } = job.progress ?? {}
    if (percent !== null) bar.show(percent, `${message}${eta === null ? '' : `, ${eta.toFixed(0)} s left`}`)
    await sleep(300)
    const answer = await fetch(`${stack.workerUrl}${job.links.self}`, { headers })
    job = (await answer.json()) as Job
  }
  if (job.status === 'success') bar.show(100, 'done')
  bar.end()
  if (!job.result) throw new Error(`the job failed: ${job.error?.code} ${job.error?.message} ${job.error?.hint ?? ''}`)
  const { rows, dims, timings } = job.result
  say(
    `geoembeddings.${TABLE}: ${rows} rows of ${dims} dimensions in ${timings['total']} s (${(rows / (timings['embed'] ?? 1)).toFixed(0)} tiles/s).`,
  )
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
