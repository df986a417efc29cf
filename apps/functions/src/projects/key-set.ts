import { readBytes } from '@terrane/service'
import { createRemoteJWKSet, customFetch, type FetchImplementation } from 'jose'

/** Key sets are small. A longer answer is not read to its end. */
const KEY_SET_BYTES = 262_144
/** Time for which a failure is cached, so that a host that hangs does not delay every start of an instance. */
const FAILURE_KEPT_MS = 30_000
const PUBLIC_KINDS: ReadonlySet<unknown> = new Set(['EC', 'RSA', 'OKP'])
/** Members of private keys (RFC 7518, sections 6.2.2 and 6.3.2). */
const PRIVATE_MEMBERS: ReadonlySet<string> = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth'])

/** A public key (RFC 7517). */
export type PublicKey = Readonly<Record<string, unknown>>

/** Fetches a key set for `jose`; never more than {@link KEY_SET_BYTES} of it. */
const fetchKeySet: FetchImplementation = async (url, options) => {
  const { status, body } = await fetch(url, options)
  return new Response(await readBytes(body, KEY_SET_BYTES), { status })
}

/** The key set of a project: it verifies tokens here, and its public keys are for functions that verify tokens themselves. */
export class KeySet {
  /** For `jose`. */
  readonly remote: ReturnType<typeof createRemoteJWKSet>
  #reading: Promise<readonly PublicKey[]> | null = null
  #readUntil = 0

  constructor(url: string) {
    this.remote = createRemoteJWKSet(new URL(url), { [customFetch]: fetchKeySet })
  }

  /** The keys, at most ten minutes old. @throws an error when they cannot be fetched, the same one for 30 seconds */
  read(): Promise<readonly PublicKey[]> {
    if (this.remote.fresh) return Promise.resolve(publicKeysOf(this.remote.jwks()))
    if (this.#reading && performance.now() < this.#readUntil) return this.#reading
    const reading = this.remote.reload().then(() => publicKeysOf(this.remote.jwks()))
    this.#reading = reading
    this.#readUntil = Number.POSITIVE_INFINITY
    const settled = (keptMs: number) => () => {
      if (this.#reading === reading) this.#readUntil = performance.now() + keptMs
    }
    reading.then(settled(0), settled(FAILURE_KEPT_MS))
    return reading
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
