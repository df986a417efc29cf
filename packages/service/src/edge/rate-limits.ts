import { createHash } from 'node:crypto'
import { TerraneError } from '@terrane/core'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { rateLimited } from '../errors.ts'
import { FixedWindow } from './fixed-window.ts'
import { networkOf } from './network.ts'
import type { EdgeSettings } from './settings.ts'

/** The subject of a rate limit: a secret key, a signed-in user, or an address. */
export type RateSubject = { readonly key: string } | { readonly user: string } | { readonly address: string }

const WINDOW_MS = 60_000
/** Maximum wrong keys of one address in a minute; after them only keys that were valid before are verified. */
const MAX_WRONG_KEYS = 6000
/** Maximum number of remembered valid keys. */
const MAX_GOOD = 10_000

/**
 * Limits the requests of a kind (a route class: tables, objects, jobs, calls, routes) in a minute, in this process.
 * Requests with a secret key count per key, those of a signed-in user per user, and those with a public key or without
 * one per address. Wrong keys are counted separately, per address.
 */
export class RateLimits {
  readonly #limiters: Readonly<Record<'key' | 'user' | 'address' | 'refused', FixedWindow | null>>
  readonly #good = new LRUCache<string, true>({ max: MAX_GOOD })

  constructor({ ratePerAddress, ratePerKey }: EdgeSettings) {
    this.#limiters = {
      key: limiter(ratePerKey),
      user: limiter(ratePerAddress),
      address: limiter(ratePerAddress),
      refused: limiter(Math.min(ratePerAddress, MAX_WRONG_KEYS)),
    }
  }

  /** Counts a request of an authenticated caller. @throws RATE_LIMITED */
  count(subject: RateSubject): void {
    if ('address' in subject) return consume(this.#limiters.address, networkOf(subject.address))
    if ('user' in subject) return consume(this.#limiters.user, subject.user)
    return consume(this.#limiters.key, digest(subject.key))
  }

  /**
   * Verifies a credential. After too many wrong ones from an address, only credentials that were valid before are
   * verified: they belong to other clients behind the same proxy.
   *
   * @throws RATE_LIMITED, and what `verify` throws
   */
  async verify<P>(address: string, credential: string, verify: () => Promise<P>): Promise<P> {
    const { refused } = this.#limiters
    if (!refused) return verify()
    const network = networkOf(address)
    const known = digest(credential)
    const waitMs = refused.wait(network)
    if (waitMs > 0 && !this.#good.has(known)) throw tooMany(waitMs)
    try {
      const principal = await verify()
      this.#good.set(known, true)
      return principal
    } catch (error) {
      if (error instanceof TerraneError && error.kind === 'unauthenticated') {
        this.#good.delete(known)
        consume(refused, network)
      }
      throw error
    }
  }
}

function limiter(points: number): FixedWindow | null {
  return points > 0 ? new FixedWindow(points, WINDOW_MS) : null
}

function consume(window: FixedWindow | null, subject: string): void {
  const waitMs = window?.consume(subject) ?? 0
  if (waitMs > 0) throw tooMany(waitMs)
}

function tooMany(waitMs: number): TerraneError {
  return rateLimited({ seconds: Math.max(1, Math.ceil(waitMs / 1000)) })
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

/** The subject of a request whose key was verified: `secret` for keys that only servers hold. */
export function rateSubject(request: FastifyRequest, secret: boolean): RateSubject {
  return secret ? { key: credentialOf(request.headers) } : { address: request.ip }
}

/** Headers of a request that identify the sender. */
export function credentialOf(headers: Readonly<Record<string, string | string[] | undefined>>): string {
  return `${String(headers['apikey'] ?? '')}\n${String(headers['authorization'] ?? '')}`
}
