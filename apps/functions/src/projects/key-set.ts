import { readBytes } from '@terrane/service'
import type { FetchImplementation } from 'jose'

/** Key sets are small. A longer answer is not read to its end. */
const KEY_SET_BYTES = 262_144
const KEPT_MS = 600_000
const FETCH_MS = 5000
const PUBLIC_KINDS: ReadonlySet<unknown> = new Set(['EC', 'RSA', 'OKP'])
/** Members of private keys (RFC 7518, sections 6.2.2 and 6.3.2). */
const PRIVATE_MEMBERS: ReadonlySet<string> = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth'])

/** A public key (RFC 7517). */
export type PublicKey = Readonly<Record<string, unknown>>

/** Fetches a key set for `jose`; never more than {@link KEY_SET_BYTES} of it. */
export const fetchKeySet: FetchImplementation = async (url, options) => {
  const { status, body } = await fetch(url, options)
  return new Response(await readBytes(body, KEY_SET_BYTES), { status })
}

/** The public keys that verify a project's tokens, for functions that verify tokens themselves. */
export class KeySet {
  readonly #url: string
  #kept: Promise<readonly PublicKey[]> | null = null
  #until = 0

  constructor(url: string) {
    this.#url = url
  }

  /** The keys, at most ten minutes old. @throws an error when they cannot be fetched */
  read(): Promise<readonly PublicKey[]> {
    const now = performance.now()
    if (this.#kept && now < this.#until) return this.#kept
    const kept = this.#fetch()
    this.#kept = kept
    this.#until = now + KEPT_MS
    kept.catch(() => {
      if (this.#kept === kept) this.#kept = null
    })
    return kept
  }

  async #fetch(): Promise<readonly PublicKey[]> {
    const signal = AbortSignal.timeout(FETCH_MS)
    const answer = await fetchKeySet(this.#url, { method: 'GET', headers: new Headers(), redirect: 'manual', signal })
    if (!answer.ok) throw new Error(`the key set of the project answers with status ${answer.status}`)
    return publicKeysOf(await answer.json())
  }
}

/** The public keys of a key set: without secrets, and without the private parts of pairs. */
export function publicKeysOf(set: unknown): readonly PublicKey[] {
  const { keys } = (set ?? {}) as { keys?: unknown }
  const all = Array.isArray(keys) ? (keys as Record<string, unknown>[]) : []
  return all
    .filter((key) => PUBLIC_KINDS.has(key?.['kty']))
    .map((key) => Object.fromEntries(Object.entries(key).filter(([name]) => !PRIVATE_MEMBERS.has(name))))
}
