// Functions of other people as they are, against a mirror on loopback of the hosts that they import from. Set
// TERRANE_EXAMPLES to a folder with a git directory `{owner}+{name}` of each repository that collection.ts names.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { NEEDED, collect, labelOf, type Root } from '../support/examples/collection.ts'
import { openMirror } from '../support/examples/mirror.ts'
import { Repositories } from '../support/examples/repositories.ts'
import { reasonToSetAside } from '../support/examples/set-aside.ts'

// oxlint-disable-next-line node/no-process-env -- Where somebody has fetched the repositories, and how Deno is led to the mirror.
const { env } = process
const folder = env['TERRANE_EXAMPLES'] ?? ''
const repositories = new Repositories(folder)
const absent = folder === '' ? ['TERRANE_EXAMPLES is not set'] : NEEDED.filter((name) => !repositories.has(name))
const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

interface Judged {
  readonly label: string
  readonly answered: boolean
  /** Why it is not the runtime's to answer; null for one that counts. */
  readonly aside: string | null
  readonly said: string
}

/** At once on one host. */
const PARALLEL = 4
const ANSWER_MS = 25_000
const TRIES = 6

test.skipIf(absent.length > 0)(
  `nine in ten examples answer${absent.map((name) => `; absent: ${name}`).join('')}`,
  async () => {
    const home = await mkdtemp(join(tmpdir(), 'terrane-examples-'))
    stack.defer(() => rm(home, { recursive: true, force: true }))
    const mirror = stack.use(await openMirror(repositories, home))
    Object.assign(env, mirror.env)
    const judged: Judged[] = []
    for (const root of await collect(repositories, join(home, 'examples')))
      judged.push(...(await judgeRoot(root, mirror.hosts)))
    await report(judged, mirror.missing)
    const counted = judged.filter(({ aside }) => aside === null)
    expect(judged.length).toBeGreaterThanOrEqual(150)
    expect(counted.filter(({ answered }) => answered).length / counted.length).toBeGreaterThanOrEqual(0.9)
  },
)

async function judgeRoot(root: Root, hosts: readonly string[]): Promise<Judged[]> {
  await using app = await startApp({
    TERRANE_FUNCTIONS_DIR: root.folder,
    TERRANE_FUNCTIONS_OWN_ORIGIN: 'true',
    TERRANE_FUNCTIONS_IMPORT_HOSTS: hosts.join(','),
    TERRANE_HOME: join(root.folder, '.terrane'),
  })
  const judged: Judged[] = []
  const waiting = [...root.names]
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const label = labelOf(root, name)
      judged.push({ label, aside: reasonToSetAside(label), ...(await judge(app, name)) })
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  return judged
}

/** An example answers when a GET or a POST gets its own status, whatever that is. */
async function judge(app: TestApp, name: string): Promise<Pick<Judged, 'answered' | 'said'>> {
  let said = ''
  for (let tries = 0; tries < TRIES; tries++) {
    for (const [method, path] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/'],
    ] as const) {
      const { own, text } = await call(app.url(name) + path, method)
      if (own) return { answered: true, said: text }
      said = text
      if (/NOT_FOUND|BOOT_ERROR/.test(text)) break
    }
    const log = app.deps.control.logBook.latest('test', name, 50)
    if (!log.some(({ message }) => message.startsWith('function '))) continue
    const reasons = log
      .filter(({ level }) => level === 'error')
      .map(({ message, fields }) => message + JSON.stringify(fields ?? ''))
    return { answered: false, said: `${said} ${reasons.slice(-2).join(' ')}` }
  }
  return { answered: false, said: `${said} (never built)` }
}

async function call(url: string, method: string): Promise<{ own: boolean; text: string }> {
  const body = method === 'POST' ? { body: '{"name":"you"}', headers: { 'content-type': 'application/json' } } : {}
  try {
    const response = await fetch(url, { method, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS), ...body })
    const code = response.headers.get('x-error-code')
    return { own: code === null, text: `${response.status} ${code ?? ''} ${(await response.text()).slice(0, 120)}` }
  } catch (error) {
    return { own: false, text: String(error) }
  }
}

/** Writes all of it beside the repositories, and says what did not answer. */
async function report(judged: readonly Judged[], missing: readonly string[]): Promise<void> {
  await writeFile(join(tmpdir(), 'terrane-examples.json'), JSON.stringify({ judged, missing }, null, 1))
  const counted = judged.filter(({ aside }) => aside === null)
  say(
    `${judged.length} examples, ${counted.length} counted, ${counted.filter(({ answered }) => answered).length} answer`,
  )
  for (const { label, answered, said } of counted) if (!answered) say(`${label}: ${said.slice(0, 500)}`)
  for (const address of missing) say(`the mirror lacks ${address}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
