import { seededRandom } from '@terrane/core'
import type { AppRoute } from './processes.ts'
import { bodiesFor, type Body } from './hostile-bodies.ts'

/** The sender of a request. */
export type Caller = 'nobody' | 'anon' | 'foreign' | 'owner'
const CALLERS: readonly Caller[] = ['nobody', 'anon', 'foreign', 'owner']

/** A request that no honest client sends. */
export interface Attack {
  readonly kind: string
  readonly route: AppRoute
  readonly caller: Caller
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: Body | null
  /** Sends a few bytes a second and never ends. */
  readonly drips: boolean
}

type Random = () => number

const pick = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random() * of.length)]!

/** Values of a parameter in a path, escaped. */
const SEGMENTS = [
  '%00',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  'a'.repeat(4000),
  'a'.repeat(5000),
  '%E0%A4%A',
  '%ff%fe',
  '__proto__',
  'constructor',
  '%27%3b%20drop%20table%20x%3b--',
  '%22'.repeat(500),
  '-1',
  '1e309',
  '%F0%9F%97%BA',
  'con',
  '%2f',
  '..',
  '%20',
  '(((((((((((((((((',
]

/** Texts after the question mark. */
const QUERIES: readonly string[] = [
  `or=(${'%22'.repeat(120)})`,
  `or=${'('.repeat(2000)}`,
  `and=${'(or(a.eq.1,'.repeat(300)}`,
  `select=${'a(b('.repeat(1000)}`,
  `select=srid::constructor`,
  `order=${'a.desc,'.repeat(1500)}`,
  `limit=1e999&offset=-1`,
  `limit=${'9'.repeat(1000)}`,
  Array.from({ length: 1500 }, (_, n) => `a${n}=1`).join('&'),
  Array.from({ length: 2000 }, () => 'a=1').join('&'),
  '%00=%00&%ff=%ff',
  '__proto__[a]=1&constructor[prototype][a]=1',
  `a=${'%F0%9F%97%BA'.repeat(600)}`,
  `projectRef=${'x'.repeat(7000)}`,
  `limit=abc&offset=%00&cursor=${'A'.repeat(6000)}`,
  `x=${'a'.repeat(30_000)}`,
  `url=embeddings://${'a/'.repeat(2000)}&token=${'a.'.repeat(1000)}`,
]

const HEADERS: readonly Readonly<Record<string, string | string[]>>[] = [
  Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`x-h${n}`, '1'])),
  Object.fromEntries(Array.from({ length: 2500 }, (_, n) => [`h${n}`, ''])),
  { 'x-long': 'a'.repeat(15_000) },
  { 'x-too-long': 'a'.repeat(40_000) },
  { range: `bytes=${'0-1,'.repeat(3000)}0-1` },
  { prefer: 'count=exact,'.repeat(1000) },
  { 'if-none-match': '"a",'.repeat(3000) },
  { cookie: 'terrane_session=a; '.repeat(500) },
  { 'x-forwarded-for': '203.0.113.1, '.repeat(900) },
  { 'accept-profile': '"; drop schema public; --', 'content-profile': 'pg_catalog' },
  { accept: '*/*;q=0.1,'.repeat(1200) },
  { 'accept-encoding': 'gzip,'.repeat(2000) },
  { 'x-request-id': 'a'.repeat(5000) },
  { 'content-type': `multipart/form-data; boundary=${'-'.repeat(5000)}` },
  { 'content-type': 'application/json; charset=utf-32' },
  { 'content-encoding': 'gzip' },
  { 'transfer-encoding': 'gzip, chunked' },
  { expect: '100-continue' },
  { 'idempotency-key': '\u{e9}'.repeat(300) },
  { 'upload-length': '-1', 'tus-resumable': '9.9.9', 'upload-metadata': 'a b c,,,' },
  { 'last-event-id': '9'.repeat(400) },
  { upgrade: 'websocket', connection: 'upgrade' },
]

const METHODS = ['PROPFIND', 'TRACE', 'OPTIONS', 'PATCH', 'PUT', 'DELETE', 'POST', 'GET'] as const

/**
 * Attacks on every route of an app by every caller: `perPair` of each, cycling through the kinds, so that each route
 * gets each kind after enough runs. The same seed gives the same attacks.
 */
export function attacksOn(routes: readonly AppRoute[], perPair: number, seed: number): Attack[] {
  const random = seededRandom(seed)
  const attacks: Attack[] = []
  for (const route of routes) {
    if (['HEAD', 'OPTIONS', 'TRACE', 'CONNECT'].includes(route.method)) continue
    const bodies = bodiesFor(route.body, random)
    for (const caller of CALLERS)
      for (let n = 0; n < perPair; n++) attacks.push(attackOf(route, caller, bodies, random))
  }
  return attacks
}

function attackOf(route: AppRoute, caller: Caller, bodies: readonly Body[], random: Random): Attack {
  const sent = { route, caller, method: route.method, headers: {}, body: null, drips: false }
  const path = fill(route.url, random, 0)
  const roll = random()
  if (roll < 0.12) return { ...sent, kind: 'path', path: fill(route.url, random, 1) }
  if (roll < 0.27) return { ...sent, kind: 'query', path: `${path}?${pick(random, QUERIES)}` }
  if (roll < 0.37) return { ...sent, kind: 'headers', path, headers: pick(random, HEADERS) }
  if (roll < 0.4) return { ...sent, kind: 'method', path, method: pick(random, METHODS) }
  if (roll < 0.41 && takesBody(route)) return { ...sent, kind: 'drip', path, drips: true, body: bodies[0]! }
  const body = pick(random, bodies)
  return { ...sent, kind: `body ${body.name}`, path, body }
}

/** True for methods with a body. */
function takesBody({ method }: { readonly method: string }): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** The path of a route, with existing or hostile names. */
function fill(url: string, random: Random, hostility: number): string {
  const known: Readonly<Record<string, string>> = {
    ref: 'local',
    table: 'embeddings_catalogue',
    bucket: 'public-things',
    name: 'open',
    taskName: 'createGeoEmbeddings',
    schema: 'geoembeddings',
    job_id: '01900000-0000-7000-8000-000000000000',
    z: '1',
    x: '1',
    y: '1',
  }
  const value = (name: string) =>
    random() < hostility ? pick(random, SEGMENTS) : (known[name] ?? (name === '*' ? 'open/a.txt' : 'a'))
  return url.replaceAll(/:(\w+)(\([^)]*\))?/g, (_, name: string) => value(name)).replaceAll('*', () => value('*'))
}
