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
import { NAMED, SPEAKS, judgeExample, type Verdict } from '../support/examples/verdicts.ts'

// oxlint-disable-next-line node/no-process-env -- Where the fetched repositories are, and how Deno is led to the mirror.
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
/** Rounds of calls until an example is built; imports of the examples are fetched one after the other. */
const TRIES = 12
/** Every verdict as it falls, a line each. */
const RESULTS = env['TERRANE_EXAMPLES_RESULTS'] ?? join(tmpdir(), 'terrane-examples.jsonl')
/** Of a run of some examples: an expression for their labels. */
const ONLY = new RegExp(env['TERRANE_EXAMPLES_ONLY'] ?? '')

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
  await using app = await startApp(
    {
      TERRANE_FUNCTIONS_DIR: root.folder,
      TERRANE_FUNCTIONS_OWN_ORIGIN: 'true',
      TERRANE_FUNCTIONS_IMPORT_HOSTS: hosts.join(','),
      // Four start at once beside builds, so start times do not count.
      TERRANE_SETTINGS: '{"functions":{"bootTimeoutMs":30000}}',
      TERRANE_HOME: join(root.folder, '.terrane'),
    },
    true,
  )
  const waiting = root.names.filter((name) => ONLY.test(labelOf(root, name)))
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const label = labelOf(root, name)
      const { answered, said } = await judge(app, name, label)
      const verdict = { label, said, ...judgeExample(label, answered, said) }
      judged.push(verdict)
      await appendFile(RESULTS, `${JSON.stringify(verdict)}\n`)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
}

/**
 * An example answers when a GET or a POST gets its own status, and not that of a failure; one that speaks WebSocket, when
 * a message comes back. Two that hang are enough.
 */
async function judge(app: TestApp, name: string, label: string): Promise<{ answered: boolean; said: string }> {
  const requests = SPEAKS.test(label)
    ? [() => converse(app.url(name))]
    : REQUESTS.map(
        ([path, init]) =>
          () =>
            call(app.url(name) + path, init()),
      )
  const log = () => app.deps.control.logBook.latest('test', name, 50)
  const isBuilt = () => log().some(({ message }) => message.startsWith('function '))
  let said: string[] = []
  for (let tries = 0; tries < TRIES; tries++) {
    said = []
    let hung = 0
    // One that was built meanwhile may have been called too early: it is called again.
    const wasBuilt = isBuilt()
    for (const request of requests) {
      const { own, text } = await request()
      if (own && !(NAMED.test(label) && text.startsWith('404'))) return { answered: true, said: text }
      if (!said.includes(text)) said.push(text)
      if (/NOT_FOUND|BOOT_ERROR/.test(text) || (/TimeoutError/.test(text) && (++hung === 2 || !isBuilt()))) break
    }
    if (!wasBuilt) continue
    const reasons = log()
      .filter(({ level }) => level === 'error')
      .map(({ message, fields }) => message + JSON.stringify(fields ?? ''))
    return { answered: false, said: [...said, ...new Set(reasons.slice(-2))].join(' ') }
  }
  return { answered: false, said: `${said.join(' ')} (never built)` }
}

async function call(url: string, init: RequestInit): Promise<{ own: boolean; text: string }> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS), ...init })
    const code = response.headers.get('x-error-code')
    return {
      own: code === null && response.status < 500,
      text: `${response.status} ${code ?? ''} ${(await beginningOf(response)).slice(0, code === null ? 120 : 300)}`,
    }
  } catch (error) {
    return { own: false, text: String(error) }
  }
}

/** Opens a WebSocket, says something, and waits for what comes back. */
async function converse(url: string): Promise<{ own: boolean; text: string }> {
  const socket = new WebSocket(url.replace('http', 'ws'))
  const heard = Promise.withResolvers<{ own: boolean; text: string }>()
  const timer = setTimeout(() => heard.resolve({ own: false, text: 'TimeoutError: no message came back' }), ANSWER_MS)
  socket.addEventListener('open', () => socket.send('meow'))
  socket.addEventListener('message', ({ data }) => heard.resolve({ own: true, text: `101 ${String(data)}` }))
  socket.addEventListener('close', ({ code }) => heard.resolve({ own: false, text: `the socket was closed: ${code}` }))
  const { own, text } = await heard.promise
  clearTimeout(timer)
  socket.close()
  // Why it was not opened: a client of WebSockets does not say.
  return own ? { own, text } : { own, text: `${text} ${(await call(url, {})).text}` }
}

/** The first part of an answer, which need not end. */
async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.getReader()
  const first = await reader?.read()
  await reader?.cancel()
  return new TextDecoder().decode(first?.value)
}

/** Prints the examples that did not answer. */
function report(judged: readonly Judged[], missing: readonly string[]): void {
  for (const kind of ['answered', 'ended', 'aside', 'failed'] as const)
    say(`${kind}: ${judged.filter((one) => one.kind === kind).length}`)
  say(
    `answered with a refusal of their own: ${judged.filter((one) => one.kind === 'answered' && one.said.startsWith('4')).length}`,
  )
  for (const { label, kind, reason, said } of judged)
    if (kind === 'aside' || kind === 'failed') say(`${kind} ${label} ${reason}: ${said.slice(0, 500)}`)
  for (const address of missing) say(`the mirror lacks ${address}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
