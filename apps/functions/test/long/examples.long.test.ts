// Functions of other people as they are, against a mirror on loopback of the hosts that they import from. Set
// TERRANE_EXAMPLES to a folder with a git directory `{owner}+{name}` of each repository that collection.ts names.
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startApp, type TestApp } from '../support/app.ts'
import { NEEDED, SOURCES, collect, labelOf, type Root } from '../support/examples/collection.ts'
import { openMirror } from '../support/examples/mirror.ts'
import { Repositories } from '../support/examples/repositories.ts'
import { judgeExample, type Verdict } from '../support/examples/verdicts.ts'

// oxlint-disable-next-line node/no-process-env -- Where somebody has fetched the repositories, and how Deno is led to the mirror.
const { env } = process
const folder = env['TERRANE_EXAMPLES'] ?? ''
const repositories = new Repositories(folder)
const absent = folder === '' ? ['TERRANE_EXAMPLES is not set'] : NEEDED.filter((name) => !repositories.has(name))
const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

interface Judged extends Verdict {
  readonly label: string
  readonly said: string
}

/** At once on one host. */
const PARALLEL = 4
const ANSWER_MS = 12_000
/** Longest time for an example to be built. */
const TRIES = 6
/** Every verdict as it falls, a line each. */
const RESULTS = join(tmpdir(), 'terrane-examples.jsonl')

/** Ways to call an example until it answers: a GET, JSON, or a form with a file. */
const REQUESTS: readonly (readonly [path: string, init: () => RequestInit])[] = [
  ['', () => ({})],
  [
    '',
    () => ({
      method: 'POST',
      body: '{"name":"you","url":"https://outside.test/"}',
      headers: { 'content-type': 'application/json' },
    }),
  ],
  ['', () => ({ method: 'POST', body: formOf({ file: new File(['a'], 'a.txt', { type: 'text/plain' }) }) })],
  ['/', () => ({})],
]

function formOf(fields: Record<string, File>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  return form
}

describe.skipIf(absent.length > 0)(`examples of others${absent.map((name) => `; absent: ${name}`).join('')}`, () => {
  const judged: Judged[] = []
  let roots: readonly Root[]
  let mirror: Awaited<ReturnType<typeof openMirror>>
  beforeAll(async () => {
    const home = await mkdtemp(join(tmpdir(), 'terrane-examples-'))
    stack.defer(() => rm(home, { recursive: true, force: true }))
    mirror = stack.use(await openMirror(repositories, home))
    Object.assign(env, mirror.env)
    roots = await collect(repositories, join(home, 'examples'))
    await writeFile(RESULTS, '')
  })

  test.each(SOURCES)('%s are judged', async (source) => {
    const before = judged.length
    for (const root of roots.filter((one) => one.source === source)) await judgeRoot(root, mirror.hosts, judged)
    expect(judged.length).toBeGreaterThan(before)
  })

  test('nine in ten of all run', () => {
    report(judged, mirror.missing)
    const counted = judged.filter(({ kind }) => kind !== 'aside')
    expect(judged.length).toBeGreaterThanOrEqual(150)
    expect(counted.filter(({ kind }) => kind !== 'failed').length / counted.length).toBeGreaterThanOrEqual(0.9)
  })
})

async function judgeRoot(root: Root, hosts: readonly string[], judged: Judged[]): Promise<void> {
  await using app = await startApp({
    TERRANE_FUNCTIONS_DIR: root.folder,
    TERRANE_FUNCTIONS_OWN_ORIGIN: 'true',
    TERRANE_FUNCTIONS_IMPORT_HOSTS: hosts.join(','),
    TERRANE_HOME: join(root.folder, '.terrane'),
  })
  const waiting = [...root.names]
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const label = labelOf(root, name)
      const { answered, said } = await judge(app, name)
      const verdict = { label, said, ...judgeExample(label, answered, said) }
      judged.push(verdict)
      await appendFile(RESULTS, `${JSON.stringify(verdict)}\n`)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
}

/** An example answers when a GET or a POST gets its own status, and not that of a failure. Two that hang are enough. */
async function judge(app: TestApp, name: string): Promise<{ answered: boolean; said: string }> {
  let said = ''
  let hung = 0
  for (let tries = 0; tries < TRIES; tries++) {
    for (const [path, init] of REQUESTS) {
      const { own, text } = await call(app.url(name) + path, init())
      if (own) return { answered: true, said: text }
      said = text
      if (/TimeoutError/.test(text) && ++hung === 2) return { answered: false, said }
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

async function call(url: string, init: RequestInit): Promise<{ own: boolean; text: string }> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS), ...init })
    const code = response.headers.get('x-error-code')
    return {
      own: code === null && response.status < 500,
      text: `${response.status} ${code ?? ''} ${(await response.text()).slice(0, 120)}`,
    }
  } catch (error) {
    return { own: false, text: String(error) }
  }
}

/** Prints the examples that did not answer. */
function report(judged: readonly Judged[], missing: readonly string[]): void {
  for (const kind of ['answered', 'ended', 'aside', 'failed'] as const)
    say(`${kind}: ${judged.filter((one) => one.kind === kind).length}`)
  for (const { label, kind, reason, said } of judged)
    if (kind === 'aside' || kind === 'failed') say(`${kind} ${label} ${reason}: ${said.slice(0, 500)}`)
  for (const address of missing) say(`the mirror lacks ${address}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
