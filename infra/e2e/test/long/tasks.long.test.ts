import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveAlone } from '../support/alone-page.ts'
import { CHROMIUM, Watch, dropFile, mapReady, screenshot, startBrowser } from '../support/browser.ts'
import { ROOT } from '../support/pages.ts'
import { START_TIMEOUT_MS, startStack, type RunningStack } from '../support/stack.ts'

// Twelve everyday tasks of a newcomer, each beginning on the last page of the task before, with its clicks and seconds.
// A choice in a list counts as a click; a dropped file and typed text do not.

const without = CHROMIUM === undefined ? 'SKIPPED: there is no browser at CHROMIUM_PATH or /usr/bin/chromium. ' : ''

describe.skipIf(CHROMIUM === undefined)(`${without}the twelve tasks of a newcomer`, () => {
  let stack: RunningStack
  let browser: Browser
  let page: Page
  let watch: Watch
  let clicks = 0
  const told: string[] = []
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    stack = closing.use(await startStack({}))
    browser = await startBrowser()
    closing.defer(() => browser.close())
    page = await (await browser.newContext({ viewport: { width: 1280, height: 820 }, locale: 'en-US' })).newPage()
    watch = new Watch(page)
    await page.goto(stack.consoleUrl)
    await page.getByLabel('E-mail').fill('admin@terrane.local')
    await page.getByLabel('Password').fill(stack.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'Local project' }).click()
    await page.getByRole('heading', { name: 'Data', level: 1 }).waitFor()
  }, START_TIMEOUT_MS + 60_000)
  afterAll(async () => {
    console.log(told.join('\n'))
    await closing.disposeAsync()
  })

  const click = async (what: Locator) => {
    clicks += 1
    await what.click()
  }
  const choose = async (what: Locator, option: string) => {
    clicks += 1
    await what.selectOption(option)
  }
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  const saved = () => page.getByText(/^Saved, version/).waitFor()
  /** Walks through a task and returns its clicks. */
  const task = async (name: string, walk: () => Promise<void>): Promise<number> => {
    clicks = 0
    const begun = performance.now()
    await walk()
    told.push(`${name}: ${clicks} clicks, ${((performance.now() - begun) / 1000).toFixed(1)} s`)
    await screenshot(page, `task-${name.replaceAll(' ', '-')}`)
    if (watch.trouble.length > 0) throw new Error(watch.trouble.join('\n'))
    return clicks
  }

  test('see a CSV', async () => {
    const made = await task('see a CSV', async () => {
      await dropFile(page, 'shops.csv', Buffer.from(shops()))
      await page.getByRole('checkbox', { name: 'Show shops' }).waitFor()
      await mapReady(page)
      expect(await page.getByLabel('Colour by').inputValue()).toBe('kind')
      await saved()
    })
    expect(made).toBeLessThanOrEqual(0)
  })

  test('colour by a number', async () => {
    const made = await task('colour by a number', async () => {
      await choose(page.getByLabel('Colour by'), 'turnover')
      await page.getByRole('list', { name: 'Colours by turnover' }).waitFor()
      await choose(page.getByLabel('Method'), 'natural')
      await saved()
    })
    expect(made).toBeLessThanOrEqual(2)
  })

  test('undo a mistake', async () => {
    const made = await task('undo a mistake', async () => {
      await click(button('Remove the layer'))
      await page.getByRole('checkbox', { name: 'Show shops' }).waitFor({ state: 'detached' })
      await click(button('Undo'))
      await page.getByRole('checkbox', { name: 'Show shops' }).waitFor()
      await saved()
    })
    expect(made).toBeLessThanOrEqual(2)
  })

  let address = ''
  let frame = ''
  let elsewhere: Awaited<ReturnType<typeof serveAlone>>
  test('share by link', async () => {
    const made = await task('share by link', async () => {
      elsewhere = closing.use(await serveAlone())
      await click(button('Share'))
      await page.getByLabel('Pages that may embed it').fill(elsewhere.url)
      await click(button('Make it public'))
      address = (await page.getByLabel('Link', { exact: true }).innerText()).trim()
      frame = (await page.getByLabel('Embed', { exact: true }).innerText()).trim()
      const stranger = await (await browser.newContext()).newPage()
      await stranger.goto(address)
      await mapReady(stranger)
      await stranger.context().close()
      await click(button('Close'))
    })
    expect(made).toBeLessThanOrEqual(3)
  })

  test('embed in a page', async () => {
    const made = await task('embed in a page', async () => {
      const stranger = await (await browser.newContext()).newPage()
      await stranger.goto(elsewhere.url)
      await stranger.evaluate((html) => document.body.insertAdjacentHTML('beforeend', html), frame)
      await stranger.frameLocator('iframe').locator('.map-box .canvas[data-drawn="true"]').waitFor()
      await stranger.context().close()
    })
    expect(made).toBeLessThanOrEqual(0)
  })

  test('join a CSV to districts', async () => {
    const made = await task('join a CSV to districts', async () => {
      await dropFile(page, 'districts.geojson', Buffer.from(districts()))
      await page.getByRole('checkbox', { name: 'Show districts' }).waitFor()
      await saved()
      await dropFile(page, 'incomes.csv', Buffer.from(incomes()))
      // The table that shares a column with the file is chosen, and so is the column.
      await button('Ask').waitFor()
      expect(await page.getByLabel('Rows of').inputValue()).toBe('public.districts')
      expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe('district')
      await click(button('Ask'))
      await page.getByRole('heading', { name: '16 rows' }).waitFor()
      await page.getByLabel('Name', { exact: true }).fill('districts_income')
      await click(button('Make a table'))
      await click(link('Show it on a map'))
      await page.getByRole('checkbox', { name: 'Show districts income' }).waitFor()
      await mapReady(page)
      const options = await page.getByLabel('Colour by').locator('option').allInnerTexts()
      expect(options).toContain('income')
      expect(await page.getByLabel('Colour by').inputValue()).toBe('income')
    })
    expect(made).toBeLessThanOrEqual(6)
  })

  test('count points in areas', async () => {
    const made = await task('count points in areas', async () => {
      await click(link('SQL'))
      await click(button('Join by place'))
      await choose(page.getByLabel('Areas of'), 'public.districts')
      await choose(page.getByLabel('count rows of'), 'public.shops')
      await click(button('Ask'))
      await page.getByRole('columnheader', { name: 'shops_count' }).waitFor()
      await click(button('Map'))
      await page.getByRole('list', { name: 'Colours by shops_count' }).waitFor()
      await mapReady(page)
    })
    expect(made).toBeLessThanOrEqual(7)
  })

  test('find within a distance', async () => {
    const made = await task('find within a distance', async () => {
      await click(button('Within a distance'))
      await choose(page.getByLabel('Rows of'), 'public.shops')
      await choose(page.getByLabel('near a row of'), 'public.districts')
      await click(button('Ask'))
      await page.getByRole('heading', { name: /^\d+ rows$/ }).waitFor()
    })
    expect(made).toBeLessThanOrEqual(4)
  })

  test('find alike and save', async () => {
    const made = await task('find alike and save', async () => {
      await click(link('Maps'))
      await click(link('Explore embeddings'))
      // The only table is chosen.
      await page.getByText('Click a tile to find similar ones').waitFor()
      await page.getByText('Loading tiles').waitFor({ state: 'detached' })
      await mapReady(page)
      const box = (await page.locator('.map-box .canvas').boundingBox())!
      clicks += 1
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
      await page.getByRole('list', { name: 'Nearest neighbours' }).getByRole('listitem').first().waitFor()
      await mapReady(page)
      await screenshot(page, 'task-find-alike')
      await click(button('Save as layer'))
      await page.getByRole('checkbox', { name: 'Show demo scene alike' }).waitFor()
      await mapReady(page)
      expect(await page.getByLabel('Colour by').inputValue()).toBe('similarity')
      await saved()
    })
    expect(made).toBeLessThanOrEqual(5)
  })

  test('compare two dates', async () => {
    const made = await task('compare two dates', async () => {
      const scene = await readFile(join(stack.home, 'data', 'demo-scene.tif'))
      for (const name of ['spring.tif', 'autumn.tif']) {
        await dropFile(page, name, scene)
        await page.getByRole('checkbox', { name: `Show ${name.replace('.tif', '')}` }).waitFor()
      }
      await click(button('Compare two rasters'))
      await page.locator('.compare-over .map-box[aria-busy=false]').waitFor()
      await page.getByRole('slider', { name: 'Position of the divider' }).press('End')
      await click(button('End the comparison'))
    })
    expect(made).toBeLessThanOrEqual(3)
  })

  test('give it to QGIS', async () => {
    const made = await task('give it to QGIS', async () => {
      await click(link('Data'))
      await click(button('shops'))
      const command = (await page.getByLabel('With QGIS').innerText()).trim()
      const folder = await mkdtemp(join(tmpdir(), 'terrane-qgis-'))
      try {
        const program = [join(ROOT, 'apps/cli/src/main.ts'), ...command.split(' ').slice(1)]
        // oxlint-disable-next-line node/no-process-env -- The command runs as a user would run it.
        const env = { ...process.env, TERRANE_HOME: stack.home }
        await promisify(execFile)(process.execPath, program, { cwd: folder, env })
        expect(await readFile(join(folder, 'shops.qlr'), 'utf8')).toContain('/ogc/v1')
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
    expect(made).toBeLessThanOrEqual(2)
  })

  test('tiles of a town', async () => {
    const made = await task('tiles of a town', async () => {
      await dropFile(page, 'town.osm.pbf', await readFile(join(stack.home, 'data', 'demo-town.osm.pbf')))
      await page.getByText('km², 5 positions').waitFor()
      await click(button('Start the job'))
      await page.locator('.page-head .badge', { hasText: /Done|Ended with/ }).waitFor()
      await click(page.getByRole('row', { name: 'public.town_streets' }).getByRole('link', { name: 'Archive' }))
      await page.getByRole('heading', { name: 'Archive to PMTiles' }).waitFor()
      await click(button('Start the job'))
      await page.locator('.page-head .badge', { hasText: 'Done' }).waitFor()
      await click(link('Show on the map'))
      await mapReady(page)
    })
    expect(made).toBeLessThanOrEqual(4)
  })
})

const WEST = 11.58
const SOUTH = 48.08
const SIDE = 0.01

function shops(): string {
  const rows = Array.from({ length: 60 }, (_, i) => {
    const [lat, lon] = [SOUTH + ((i * 7) % 40) / 1000, WEST + ((i * 11) % 40) / 1000]
    return `Shop ${i},${['bakery', 'books', 'bikes'][i % 3]},${lat},${lon},${i * i * 100}`
  })
  return ['name,kind,lat,lon,turnover', ...rows].join('\n')
}

function districts(): string {
  const features = Array.from({ length: 16 }, (_, i) => {
    const [west, south] = [WEST + (i % 4) * SIDE, SOUTH + Math.floor(i / 4) * SIDE]
    const [east, north] = [west + SIDE, south + SIDE]
    const ring = [[west, south], [east, south], [east, north], [west, north], [west, south]] // prettier-ignore
    return { type: 'Feature', properties: { district: `D${i}` }, geometry: { type: 'Polygon', coordinates: [ring] } }
  })
  return JSON.stringify({ type: 'FeatureCollection', features })
}

function incomes(): string {
  // The order differs from that of the districts, so that a join of row numbers would be wrong.
  return ['district,income', ...Array.from({ length: 16 }, (_, i) => `D${15 - i},${35_000 - i * 1000}`)].join('\n')
}
