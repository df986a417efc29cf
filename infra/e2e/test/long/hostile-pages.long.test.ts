import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHROMIUM, startBrowser } from '../support/browser.ts'
import { START_TIMEOUT_MS, startStack, type RunningStack } from '../support/stack.ts'

const EMAIL = 'admin@terrane.local'
const without = CHROMIUM === undefined ? 'SKIPPED: there is no browser at CHROMIUM_PATH or /usr/bin/chromium. ' : ''

/**
 * A page that tries every kind of access to the console, and stores the results in `window.tried`: for each attempt the
 * data it obtained, or null. Its own query contains the console's address.
 */
const PAGE = `<!doctype html><title>hostile</title><body><script>
const target = new URL(location.href).searchParams.get('console')
const within = (work) => Promise.race([work, new Promise((done) => setTimeout(() => done(null), 4000))])
const attempts = {
  async 'reads who is signed in'() { const r = await fetch(target + '/api/session', { credentials: 'include' }); const t = await r.text(); return t.includes('csrf_token') ? t : null },
  async 'reads who is signed in here'() { const r = await fetch('/api/session', { credentials: 'include' }); const t = await r.text(); return t.includes('csrf_token') ? t : null },
  async 'changes something by fetch'() { await fetch(target + '/api/session', { method: 'DELETE', credentials: 'include', mode: 'no-cors' }); return null },
  async 'signs in as another by a plain post'() { await fetch(target + '/api/session', { method: 'POST', credentials: 'include', mode: 'no-cors', body: 'x' }); return null },
  async 'registers a service worker'() { const r = await navigator.serviceWorker.register('./worker.js?console=' + encodeURIComponent(target)); return String(r.scope) },
  async 'registers one for all of the host'() { const r = await navigator.serviceWorker.register('./worker.js', { scope: '/' }); return String(r.scope) },
  async 'sets a cookie by script'() { document.cookie = 'terrane_session=of-the-function; Path=/api'; document.cookie = 'terrane_session=of-the-function; Path=/api/session'; return null },
  async 'reads cookies'() { return document.cookie === '' ? null : document.cookie },
  async 'reads its storage'() { localStorage.setItem('a', 'b'); return 'storage' },
  async 'looks into a frame of the console'() { const f = document.createElement('iframe'); f.src = target + '/'; document.body.append(f); await new Promise((done) => { f.onload = done; setTimeout(done, 2000) }); return f.contentDocument && f.contentDocument.body.innerHTML.length > 0 ? 'frame' : null },
  async 'looks into a window of the console'() { const w = open(target + '/'); await new Promise((done) => setTimeout(done, 2000)); const seen = w && w.document.title; return seen || null },
  async 'sends a form in a hidden frame'() { const f = document.createElement('iframe'); f.name = 'out'; document.body.append(f); const form = document.createElement('form'); form.method = 'post'; form.enctype = 'text/plain'; form.target = 'out'; form.action = target + '/api/session'; form.innerHTML = '<input name=x value=y>'; document.body.append(form); form.submit(); await new Promise((done) => setTimeout(done, 1500)); return null },
  async 'calls the console with a JSON body'() { const r = await fetch(target + '/api/projects/local/jobs/osmImportArea', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json', 'x-csrf-token': 'guess' }, body: '{}' }); return r.ok ? 'ok' : null },
};
(async () => {
  const gained = {}
  for (const [name, attempt] of Object.entries(attempts)) try { gained[name] = await within(attempt()) } catch { gained[name] = null }
  document.title = 'done ' + JSON.stringify(gained)
})()
</script>`

/** Answers that also try every attack by headers. */
const HOSTILE = `const page = ${JSON.stringify(PAGE)}
export default (request: Request) => {
  if (request.url.includes('worker.js'))
    return new Response("self.addEventListener('fetch', (e) => e.respondWith(new Response('owned')))",
      { headers: { 'content-type': 'text/javascript', 'service-worker-allowed': '/' } })
  const headers = new Headers({ 'content-type': 'text/html', 'content-security-policy': "default-src * 'unsafe-inline'", 'clear-site-data': '"cookies"' })
  headers.append('set-cookie', 'terrane_session=of-the-function; Path=/api')
  headers.append('set-cookie', 'terrane_session=of-the-function; Path=/api/session')
  return new Response(page, { headers })
}`

describe.skipIf(CHROMIUM === undefined)(`${without}pages of a function beside the console, in a browser`, () => {
  let stack: RunningStack
  let browser: Browser
  let context: BrowserContext
  let page: Page
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'terrane-hostile-pages-'))
    closing.defer(() => rm(folder, { recursive: true, force: true }))
    await mkdir(join(folder, 'page'))
    await writeFile(join(folder, 'page', 'index.ts'), HOSTILE)
    await writeFile(join(folder, 'page', 'function.json'), '{"auth":"none","methods":["GET","POST"]}')
    stack = closing.use(await startStack({ TERRANE_FUNCTIONS_DIR: folder }))
    browser = await startBrowser()
    closing.defer(() => browser.close())
    context = await browser.newContext()
    page = await context.newPage()
    await page.goto(stack.consoleUrl)
    await page.getByLabel('E-mail').fill(EMAIL)
    await page.getByLabel('Password').fill(stack.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Projects', level: 1, exact: true }).waitFor()
  }, START_TIMEOUT_MS + 60_000)
  afterAll(() => closing.disposeAsync())

  const session = () =>
    page.evaluate(async () => (await fetch('/api/session')).json() as Promise<{ user: { email: string } | null }>)
  const cookies = async () =>
    (await context.cookies())
      .map(({ name, value, path }) => ({ name, value, path }))
      .toSorted((a, b) => a.path.length - b.path.length)

  test.each(['origin', 'functions'] as const)('by way of the %s it gains nothing', async (way) => {
    const before = await cookies()
    expect(before.map(({ name, path }) => [name, path])).toEqual([['terrane_session', '/api']])
    const attack = await context.newPage()
    const answer = await attack.goto(
      `${stack.urls[way]}/functions/v1/page?console=${encodeURIComponent(stack.consoleUrl)}`,
    )
    expect(answer!.status()).toBe(200)
    // Its scripts run, so the attempts are really made.
    await attack.waitForFunction(() => document.title.startsWith('done '))
    const gained = JSON.parse((await attack.title()).slice('done '.length)) as Record<string, string | null>
    expect(Object.keys(gained).length).toBe(13)
    expect(Object.entries(gained).filter(([, what]) => what !== null)).toEqual([])
    await attack.close()
    expect(await cookies()).toEqual(before)
    expect(context.serviceWorkers()).toEqual([])
    expect((await session()).user?.email).toBe(EMAIL)
    await page.reload()
    await page.getByRole('heading', { name: 'Projects', level: 1, exact: true }).waitFor()
  })

  test('the same page on the console itself is not served', async () => {
    const answer = await context.request.get(`${stack.consoleUrl}/functions/v1/page`)
    expect(await answer.text()).not.toContain('<title>hostile</title>')
  })
})
