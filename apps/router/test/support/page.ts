import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, resolve, sep } from 'node:path'
import { text } from 'node:stream/consumers'

/** The machine's browser, or undefined. */
// oxlint-disable-next-line node/no-process-env -- where the browser lies is a matter of the machine
export const CHROMIUM = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
)

const TYPES: Readonly<Record<string, string>> = { '.css': 'text/css', '.js': 'text/javascript' }

/** Gives the page `say(value)`, which ends it. An error that is not caught ends it too. */
const PROLOGUE = `<!doctype html><meta charset="utf-8"><script>
const send = (body) => fetch('/said', { method: 'POST', body: JSON.stringify(body) })
const say = (value) => send({ value })
const fail = (error) => send({ error: String(error?.stack ?? error?.message ?? JSON.stringify(error)) })
addEventListener('error', (event) => fail(event.error ?? event.message))
addEventListener('unhandledrejection', (event) => fail(event.reason))
</script>`

/** Message of a page: a value, or the error that ended it. */
interface Said {
  readonly value?: unknown
  readonly error?: string
}

/**
 * Opens a page in Chromium and waits until it calls `say`; resolves to the value.
 *
 * @param html the body of the page; packages lie under `/packages/`
 * @param packages a folder `node_modules`
 * @throws an error with what the page reports, or with what Chromium prints when it ends before
 */
export async function saidByPage(html: string, packages: string): Promise<unknown> {
  const { promise: said, resolve: settle } = Promise.withResolvers<Said>()
  const server = createServer((request, response) => void answer(request, response))
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url === '/said') settle(JSON.parse(await text(request)))
    if (request.url === '/' || request.url === '/said') {
      response.setHeader('content-type', 'text/html').end(PROLOGUE + html)
      return
    }
    const path = resolve(packages, (request.url ?? '').replace('/packages/', ''))
    if (!path.startsWith(packages + sep) || !existsSync(path)) return void response.writeHead(404).end()
    response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream').end(readFileSync(path))
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const profile = await mkdtemp(join(tmpdir(), 'terrane-page-'))
  const browser = openBrowser(server, profile)
  try {
    const { value, error } = await Promise.race([said, endOf(browser)])
    if (error !== undefined) throw new Error(`the page failed: ${error}`)
    return value
  } finally {
    await close(browser)
    server.closeAllConnections()
    server.close()
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Starts Chromium as a group of processes; maps are drawn without a graphics card. */
function openBrowser(server: Server, profile: string): ChildProcess {
  const flags = ['--headless=new', '--no-sandbox', '--no-first-run', `--user-data-dir=${profile}`]
  const drawing = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']
  const page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return spawn(CHROMIUM ?? '', [...flags, ...drawing, page], { detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
}

async function endOf(browser: ChildProcess): Promise<Said> {
  const printed = await text(browser.stderr!)
  return { error: `Chromium ended: ${printed.slice(-2000)}` }
}

async function close(browser: ChildProcess): Promise<void> {
  if (browser.pid === undefined || browser.exitCode !== null) return
  const ended = new Promise((done) => browser.once('exit', done))
  process.kill(-browser.pid, 'SIGKILL')
  await ended
}
