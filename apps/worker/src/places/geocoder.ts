import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TerraneError } from '@terrane/core'
import { readJson, type GuardedFetch } from '@terrane/service'
import { geocoderBusy, geocoderFailed, geocoderOff, placeNotFound } from './errors.ts'

/** An area found by name. */
export interface Place {
  readonly name: string
  /** `relation/44915`; null when the geocoder does not name it. */
  readonly element: string | null
  /** Polygon or MultiPolygon. */
  readonly geoJson: object
}

export interface GeocoderSettings {
  /** Search address of a Nominatim-like server, which may carry parameters such as a key or e-mail; empty for none. */
  readonly url: string
  readonly cacheFolder: string
}

export interface LookUp {
  readonly query: string
  /** JSON pointer to the query in the request. */
  readonly path: string
  readonly fetch: GuardedFetch
  readonly signal: AbortSignal
  /** Longest wait for the request interval; unlimited when absent. */
  readonly waitMs?: number
}

/** Public servers ask for at most one request a second. */
const INTERVAL_MS = 1000
const MAX_AGE_MS = 30 * 24 * 3_600_000
const MAX_BYTES = 16 << 20
const TIMEOUT_MS = 60_000
/** Number of requested results, because the first may be a point. */
const RESULTS = 10

/** Looks up places with at most one request a second, and caches the results. */
export class Geocoder {
  readonly #settings: GeocoderSettings
  readonly #interval: RequestInterval

  constructor(settings: GeocoderSettings, interval = new RequestInterval(INTERVAL_MS)) {
    this.#settings = settings
    this.#interval = interval
  }

  /** @throws GEOCODER_OFF */
  check(path: string): void {
    if (this.#settings.url === '') throw geocoderOff({ path })
  }

  /**
   * The first area that the geocoder finds. A result of the last 30 days is used without a request, an older one while
   * the server is down.
   *
   * @throws GEOCODER_OFF, GEOCODER_BUSY, GEOCODER_FAILED, PLACE_NOT_FOUND, and the signal's reason
   */
  async find({ query, path, fetch, signal, waitMs = Infinity }: LookUp): Promise<Place> {
    this.check(path)
    const url = this.#urlOf(query)
    const file = join(this.#settings.cacheFolder, `${createHash('sha256').update(url).digest('hex')}.json`)
    const kept = await readKept(file)
    if (kept && Date.now() - kept.askedAt < MAX_AGE_MS) return kept.place
    try {
      await this.#interval.turn(signal, waitMs)
      const results = await ask(url, fetch, signal)
      const place = results.map(readPlace).find((found) => found !== null)
      if (!place) throw placeNotFound({ query, path, results: results.length })
      await keep(file, { askedAt: Date.now(), place })
      return place
    } catch (error) {
      signal.throwIfAborted()
      if (kept && error instanceof TerraneError && error.retryable) return kept.place
      throw error
    }
  }

  #urlOf(query: string): string {
    const url = new URL(this.#settings.url)
    const wanted = {
      q: query.trim().replaceAll(/\s+/g, ' '),
      format: 'jsonv2',
      polygon_geojson: '1',
      limit: `${RESULTS}`,
    }
    for (const [name, value] of Object.entries(wanted)) url.searchParams.set(name, value)
    return url.href
  }
}

/** Spaces requests by this interval. */
export class RequestInterval {
  readonly #intervalMs: number
  readonly #now: () => number
  readonly #wait: (ms: number, signal: AbortSignal) => Promise<unknown>
  #next = 0

  constructor(
    intervalMs: number,
    now: () => number = Date.now,
    wait: (ms: number, signal: AbortSignal) => Promise<unknown> = (ms, signal) => sleep(ms, undefined, { signal }),
  ) {
    this.#intervalMs = intervalMs
    this.#now = now
    this.#wait = wait
  }

  /** Resolves when the caller may send its request. @throws GEOCODER_BUSY when the wait would exceed `mostMs` */
  async turn(signal: AbortSignal, mostMs = Infinity): Promise<void> {
    const now = this.#now()
    const at = Math.max(now, this.#next)
    if (at - now > mostMs) throw geocoderBusy({ seconds: mostMs / 1000 })
    this.#next = at + this.#intervalMs
    if (at > now) await this.#wait(at - now, signal)
  }
}

interface Kept {
  readonly askedAt: number
  readonly place: Place
}

async function ask(url: string, fetch: GuardedFetch, signal: AbortSignal): Promise<unknown[]> {
  const options = { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal, headers: { accept: 'application/json' } }
  let answer: unknown
  try {
    answer = await readJson((await fetch(url, options)).body, MAX_BYTES)
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof SyntaxError) throw geocoderFailed({ why: 'its answer is not JSON' }, { cause })
    throw geocoderFailed({ why: cause instanceof TerraneError ? cause.message : 'it cannot be reached' }, { cause })
  }
  if (!Array.isArray(answer)) throw geocoderFailed({ why: 'its answer is not a list of places' })
  return answer as unknown[]
}

/** The area of a result of Nominatim; null when it is a point or a line. */
function readPlace(result: unknown): Place | null {
  if (!isObject(result)) return null
  const { geojson, display_name: name, osm_type: type, osm_id: id } = result
  if (!isObject(geojson) || (geojson['type'] !== 'Polygon' && geojson['type'] !== 'MultiPolygon')) return null
  const element = typeof type === 'string' && typeof id === 'number' ? `${type}/${id}` : null
  return { name: typeof name === 'string' ? name : '', element, geoJson: geojson }
}

async function readKept(file: string): Promise<Kept | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Kept
  } catch {
    return null
  }
}

/** Caches a result; failures of the cache are ignored. */
async function keep(file: string, kept: Kept): Promise<void> {
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`
  try {
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(partial, JSON.stringify(kept))
    await rename(partial, file)
  } catch {
    // The place is looked up again next time.
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
