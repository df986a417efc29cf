import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import { promisify } from 'node:util'
import { tooBusy } from '../errors.ts'

/** Cost of a scrypt hash (RFC 7914): N = 2^ln. */
export interface HashCost {
  readonly ln: number
  readonly r: number
  readonly p: number
}

/** N = 2^15, r = 8, p = 3 takes 32 MiB. It is as strong as OWASP's first choice, N = 2^17 with p = 1, at a quarter of the memory. */
export const HASH_COST: HashCost = { ln: 15, r: 8, p: 3 }
const SALT_BYTES = 16
const HASH_BYTES = 32
/**
 * Maximum concurrent hashes, and hashes that may wait; further sign-ins are refused. Sign-ins with fewer recent
 * failures go first, so that guesses do not displace them.
 */
const AT_ONCE = 2
const WAITING = 32

/** Shortest password that is accepted when one is set. */
export const MIN_PASSWORD = 10
export const MAX_PASSWORD = 200

const derive: (password: string, salt: Buffer, length: number, options: ScryptOptions) => Promise<Buffer> =
  promisify(scrypt)

/** Hashes a new password: `$scrypt$ln=15,r=8,p=3${salt}${hash}`, both in base64. */
export async function hashPassword(password: string, cost: HashCost): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await inTurn(() => run(password, salt, cost), 0)
  const { ln, r, p } = cost
  return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64')}$${hash.toString('base64')}`
}

/**
 * True when the password belongs to the stored hash. Without a stored hash it is false and takes as long as a hash of
 * `cost`, so the time does not show which accounts exist.
 *
 * @param failures recent failed sign-ins from the address of the attempt
 * @throws TOO_BUSY when too many sign-ins are waiting
 */
export async function verifyPassword(
  password: string,
  stored: string | null,
  cost: HashCost,
  failures = 0,
): Promise<boolean> {
  const parsed = parse(stored ?? '')
  const salt = parsed?.salt ?? Buffer.alloc(SALT_BYTES)
  const hash = await inTurn(() => run(password, salt, parsed ?? cost), failures)
  return parsed !== null && parsed.hash.length === hash.length && timingSafeEqual(parsed.hash, hash)
}

function run(password: string, salt: Buffer, { ln, r, p }: HashCost): Promise<Buffer> {
  const N = 2 ** ln
  return derive(password.normalize('NFKC'), salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r })
}

function parse(stored: string): (HashCost & { salt: Buffer; hash: Buffer }) | null {
  const found = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w+/=]+)\$([\w+/=]+)$/.exec(stored)
  if (!found) return null
  const [, ln, r, p, salt = '', hash = ''] = found
  const [saltBytes, hashBytes] = [Buffer.from(salt, 'base64'), Buffer.from(hash, 'base64')]
  return { ln: Number(ln), r: Number(r), p: Number(p), salt: saltBytes, hash: hashBytes }
}

let running = 0
/** Sorted by failures; with equal failures the longest wait comes first. */
const waiting: { readonly failures: number; readonly go: () => void; readonly giveUp: (error: Error) => void }[] = []

async function inTurn<T>(work: () => Promise<T>, failures: number): Promise<T> {
  if (running >= AT_ONCE) {
    const { promise, resolve: go, reject: giveUp } = Promise.withResolvers<void>()
    const after = waiting.findIndex((other) => other.failures > failures)
    waiting.splice(after < 0 ? waiting.length : after, 0, { failures, go, giveUp })
    if (waiting.length > WAITING) waiting.pop()?.giveUp(tooBusy())
    await promise
  } else running++
  try {
    return await work()
  } finally {
    // The next waiting hash takes over the slot; without one, the slot becomes free.
    const next = waiting.shift()
    if (next) next.go()
    else running--
  }
}
