import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { EMAIL, PASSWORD, attempt, openConsole, type TestConsole } from '../harness.ts'

vi.setConfig({ testTimeout: 600_000 })

const OWNER = '198.51.100.7'
/** Number of source networks, and guesses from each. */
const NETWORKS = 8
const FROM_EACH = 125
/**
 * Free guesses at one address before a wait, and further ones allowed after waits. Each wait is twice as long as the
 * last.
 */
const FREE = 20
const WAITED = 10

let behindProxy: TestConsole
let direct: TestConsole
beforeAll(async () => {
  const env = { TERRANE_SETTINGS: '{"everyApp":{"rates":{"perAddress":0}}}' }
  behindProxy = await openConsole({ ...env, TERRANE_TRUSTED_PROXIES: '127.0.0.1/32' })
  direct = await openConsole(env)
})
afterAll(async () => {
  await behindProxy[Symbol.asyncDispose]()
  await direct[Symbol.asyncDispose]()
})

const guess = async (url: string, n: number, from: string) => {
  const email = n % 2 === 0 ? EMAIL : `unknown-${n}@example.org`
  const response = await attempt(url, email, `wrong password ${n}`, from)
  await response.arrayBuffer()
  return response.status
}

test('1,000 wrong sign-ins from elsewhere never turn the owner away', async () => {
  const signIn = async () => {
    const began = performance.now()
    const response = await attempt(behindProxy.url, EMAIL, PASSWORD, OWNER)
    await response.arrayBuffer()
    return { status: response.status, ms: performance.now() - began }
  }
  const before = await signIn()
  let guesses = 0
  const statuses: number[] = []
  // Addresses that a caller sends itself come before the proxy's entry and are ignored.
  const attack = Array.from({ length: NETWORKS }, async (_, network) => {
    for (let n = 0; n < FROM_EACH; n++) {
      statuses.push(await guess(behindProxy.url, guesses++, `${OWNER}, 203.0.113.${network}`))
    }
  })
  const ended = new AbortController()
  const over = Promise.all(attack).then(() => ended.abort())
  const mine: { status: number; ms: number }[] = []
  while (!ended.signal.aborted) {
    mine.push(await signIn())
    const wanted = statuses.length + 20
    while (!ended.signal.aborted && statuses.length < wanted) await sleep(20)
  }
  await over
  const worst = Math.max(...mine.map(({ ms }) => ms))
  const refused = (status: number) => statuses.filter((one) => one === status).length
  process.stdout.write(
    `${statuses.length} wrong sign-ins (401 × ${refused(401)}, 429 × ${refused(429)}, 503 × ${refused(503)}); ` +
      `the owner signed in ${mine.length} times meanwhile, in ${worst.toFixed(0)} ms at most (${before.ms.toFixed(0)} ms before)\n`,
  )
  expect(statuses).toHaveLength(NETWORKS * FROM_EACH)
  expect(refused(200)).toBe(0)
  expect(mine.length).toBeGreaterThan(0)
  expect(mine.filter(({ status }) => status !== 200)).toEqual([])
  // No network had more than its allowed guesses.
  expect(refused(401)).toBeLessThanOrEqual(NETWORKS * (FREE + WAITED))
})

test.each([
  ['through a proxy', () => behindProxy, (n: number) => `10.${n}.0.1, 192.0.2.${n}, 203.0.113.200`],
  ['directly', () => direct, (n: number) => `192.0.2.${n}, 10.0.${n}.1`],
])('no header gives an address more guesses, %s', async (_, console, from) => {
  const statuses: number[] = []
  for (let n = 0; n < 2 * FREE; n++) statuses.push(await guess(console().url, 2 * n + 1, from(n)))
  expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(FREE + WAITED)
  expect(statuses).toContain(429)
})
