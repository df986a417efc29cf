import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Principal } from './principal.ts'
import { canonicalOf } from './spelling.ts'

/** SHA-256 of a key, lower-case hex: the only stored form; of a token, the hash of its canonical text. */
export function hashKey(key: string): string {
  return createHash('sha256').update(canonicalOf(key)).digest('hex')
}

/** A new opaque key of 256 bits: `{prefix}_{43 characters of base64url}`. */
export function makeOpaqueKey(prefix: string): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`
}

/** A stored key: its hash and its principal. */
export interface StoredKey {
  readonly sha256: string
  readonly principal: Principal
}

/** Finds the stored key of a hash; compares every candidate in constant time. */
export function findKey(keys: readonly StoredKey[], sha256: string): Principal | null {
  const wanted = Buffer.from(sha256, 'hex')
  let found: Principal | null = null
  for (const key of keys) {
    const have = Buffer.from(key.sha256, 'hex')
    if (have.length === wanted.length && timingSafeEqual(have, wanted)) found = key.principal
  }
  return found
}
