import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { existsSync, mkdtempSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHROMIUM, startBrowser } from '../support/browser.ts'
import { ROOT } from '../support/pages.ts'

// Tests the documentation site that `node infra/site.ts` builds, with a reader's search tasks.

const OFFLINE = /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|E403/
/** Search tasks: the goal, the page that covers it, and search words. */
const TASKS = [
  ['embed a GeoTIFF: a vector for each tile', 'tasks/embed', 'embed image'],
  ['import a Shapefile, GeoPackage, CSV, …', 'tasks/import', 'import shapefile'],
  ['put tiles on your own map', 'tasks/tiles', 'make tiles'],
  ['share or drop a table', 'tasks/tables', 'share a table'],
  ['deploy a function', 'tasks/functions', 'deploy function'],
] as const

/** Builds the site into a folder; returns the output of a failed generator. */
function build(out: string): string {
  const env = { ...process.env, TERRANE_SITE_OUT: out }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['infra/site.ts'], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  })
  return status === 0 ? '' : `${stdout}${stderr}`
}

const out = mkdtempSync(join(tmpdir(), 'terrane-site-'))
const trouble = CHROMIUM === undefined ? '' : build(out)
afterAll(() => rm(out, { recursive: true, force: true }))
const missing = CHROMIUM === undefined ? 'a browser' : OFFLINE.test(trouble) ? 'the npm registry' : null

describe.skipIf(missing !== null)(`${missing === null ? '' : `SKIPPED without ${missing}: `}the site`, () => {
  const closing = new AsyncDisposableStack()
  let browser: Browser
  let page: Page
  let url: string
  beforeAll(async () => {
    if (trouble !== '') throw new Error(trouble)
    const server = createServer((request, response) => {
      const path = decodeURI(new URL(request.url ?? '/', 'http://site').pathname)
      const file = [path, `${path}.html`, `${path}index.html`].map((name) => join(out, name)).find(isFile)
      if (file === undefined) response.writeHead(404).end()
      else void readFile(file).then((bytes) => response.writeHead(200, { 'content-type': typeOf(file) }).end(bytes))
    })
    closing.defer(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await startBrowser()
    closing.defer(() => browser.close())
    page = await browser.newPage()
  })
  afterAll(() => closing.disposeAsync())

  test.each(TASKS)('%s: one click from the front page', async (words, path) => {
    await page.goto(`${url}/docs/`)
    await page.getByRole('row', { name: words }).getByRole('link').first().click()
    await page.waitForURL(`${url}/docs/${path}`)
    await expect.poll(() => page.locator('main pre').count()).toBeGreaterThan(1)
  })

  test.each(TASKS)('%s: found by one search', async (_words, path, query) => {
    await page.goto(`${url}/docs/`)
    await page.getByRole('button', { name: 'Search' }).click()
    await page.getByPlaceholder('Search').fill(query)
    await expect
      .poll(() =>
        page
          .locator('.VPLocalSearchBox .result')
          .evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
      )
      .toContainEqual(expect.stringContaining(path))
  })
})

function isFile(path: string): boolean {
  return /\.\w+$/.test(path) && existsSync(path)
}

function typeOf(path: string): string {
  const types = { html: 'text/html', js: 'text/javascript', css: 'text/css', json: 'application/json' }
  return types[path.split('.').pop() as keyof typeof types] ?? 'application/octet-stream'
}
