import { join } from 'node:path'
import { downloadToFile, readBytes, type GuardedFetch } from '@terrane/service'
import { replicationBroken, replicationUrlInvalid } from './errors.ts'

/** State of a replication server. */
export interface ReplicationState {
  readonly sequence: number
  readonly timestamp: Date
}

export interface ReplicationOptions {
  readonly fetch: GuardedFetch
  /** Largest change file. */
  readonly maxBytes: number
  readonly signal: AbortSignal
}

const STATE_BYTES = 1 << 16

/** A server of OpenStreetMap change files by sequence number. Source: OSM wiki, Planet.osm/diffs. */
export class Replication {
  /** The folder, with a slash at its end. */
  readonly url: string
  readonly #options: ReplicationOptions

  /** @throws OSM_REPLICATION_URL_INVALID */
  constructor(url: string, options: ReplicationOptions) {
    this.url = folderUrl(url)
    this.#options = options
  }

  /** Whether a URL is the one of this server. It may come from an untrusted file and be invalid. */
  isAt(url: string): boolean {
    try {
      return folderUrl(url) === this.url
    } catch {
      return false
    }
  }

  /** The newest state. @throws OSM_REPLICATION_BROKEN and what the guarded fetch throws */
  async newest(): Promise<ReplicationState> {
    const state = await this.#state('state.txt')
    if (!state) throw replicationBroken({ file: 'state.txt', reason: 'it is not there' })
    return state
  }

  /** The newest sequence number with data not newer than a time. @throws OSM_REPLICATION_BROKEN if none is that old */
  async sequenceAt(time: Date): Promise<number> {
    const newest = await this.newest()
    if (newest.timestamp <= time) return newest.sequence
    let low = -1
    let high = newest.sequence
    // Old states may have been removed; a missing one counts as older.
    let found: number | null = null
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      const state = await this.#state(`${pathOf(middle)}.state.txt`)
      if (state && state.timestamp > time) high = middle
      else {
        low = middle
        found = state && middle
      }
    }
    if (found === null)
      throw replicationBroken({ file: `${pathOf(high)}.osc.gz`, reason: 'it is newer than the extract' })
    return found
  }

  /** Downloads the change file of a sequence number. @throws OSM_REPLICATION_BROKEN when the server no longer has it */
  async download(sequence: number, folder: string): Promise<string> {
    const { fetch, maxBytes, signal } = this.#options
    const name = `${pathOf(sequence)}.osc.gz`
    const path = join(folder, `${sequence}.osc.gz`)
    await downloadToFile(fetch, this.url + name, path, { maxBytes, signal }).catch((cause: unknown) => {
      if ((cause as { code?: unknown }).code !== 'DOWNLOAD_REFUSED') throw cause
      throw replicationBroken({ file: name, reason: 'the server refuses it' }, { cause })
    })
    return path
  }

  async #state(name: string): Promise<ReplicationState | null> {
    const { fetch, signal } = this.#options
    const response = await fetch(this.url + name, { maxBytes: STATE_BYTES, signal, accept: [404] })
    try {
      if (response.status === 404) return null
      const text = Buffer.from(await readBytes(response.body, STATE_BYTES)).toString('latin1')
      const lines = new Map(text.split('\n').map((line) => line.trim().split('=', 2) as [string, string]))
      const sequence = Number(lines.get('sequenceNumber') ?? Number.NaN)
      // Colons are escaped, as in a Java properties file.
      const timestamp = new Date((lines.get('timestamp') ?? '').replaceAll('\\', ''))
      if (!Number.isSafeInteger(sequence) || sequence < 0 || Number.isNaN(timestamp.getTime())) {
        throw replicationBroken({ file: name, reason: 'it holds no sequenceNumber and timestamp' })
      }
      return { sequence, timestamp }
    } finally {
      response.cancel()
    }
  }
}

/** @throws OSM_REPLICATION_URL_INVALID */
export function folderUrl(text: string): string {
  if (!URL.canParse(text)) throw replicationUrlInvalid()
  const url = new URL(text)
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') throw replicationUrlInvalid()
  return url.href.endsWith('/') ? url.href : `${url.href}/`
}

function pathOf(sequence: number): string {
  const digits = `${sequence}`.padStart(9, '0')
  return `${digits.slice(0, -6)}/${digits.slice(-6, -3)}/${digits.slice(-3)}`
}
