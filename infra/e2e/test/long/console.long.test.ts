import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHROMIUM, Watch, mapReady, screenshot, seriousViolations, startBrowser } from '../support/browser.ts'
import { START_TIMEOUT_MS, startStack, type RunningStack } from '../support/stack.ts'

const EMAIL = 'admin@terrane.local'
const MODEL = 'builtin-texture-spectral-v2'
/** The demo town, and a pair of places in it. */
const TOWN = { west: '11.585', south: '48.085', east: '11.62', north: '48.115' }
const JOB_TIMEOUT_MS = 300_000

const without = CHROMIUM === undefined ? 'SKIPPED: there is no browser at CHROMIUM_PATH or /usr/bin/chromium. ' : ''

describe.skipIf(CHROMIUM === undefined)(`${without}the console in a browser`, () => {
  let stack: RunningStack
  let browser: Browser
  let page: Page
  let watch: Watch
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    // Without a limit of tiles one job takes long enough to be cancelled.
    stack = closing.use(await startStack({ GEOEMBEDDINGS_MAX_TILES: '0' }))
    browser = await startBrowser()
    closing.defer(() => browser.close())
    const context = await browser.newContext({ viewport: { width: 1280, height: 820 }, locale: 'en-US' })
    page = await context.newPage()
    page.setDefaultTimeout(60_000)
    watch = new Watch(page)
  }, START_TIMEOUT_MS + 60_000)
  afterAll(() => closing.disposeAsync())

  const open = (path: string) => page.goto(stack.consoleUrl + path)
  const heading = (name: string) => page.getByRole('heading', { name, level: 1, exact: true })
  const done = () => page.locator('.page-head .badge', { hasText: 'Done' }).waitFor({ timeout: JOB_TIMEOUT_MS })

  test('a wrong password is told, the right one signs in', async () => {
    await open('/')
    await page.getByLabel('E-mail').fill(EMAIL)
    await page.getByLabel('Password').fill('not this one')
    await watch.expecting(/401/, async () => {
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('do not belong together').waitFor()
    })
    await page.getByLabel('Password').fill(stack.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await heading('Projects').waitFor()
    await page.getByRole('link', { name: 'Local project' }).click()
    await heading('Data').waitFor()
    await page.getByRole('button', { name: 'geoembeddings.demo_scene' }).waitFor()
    expect(page.url()).toBe(`${stack.consoleUrl}/p/local/data`)
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await page.getByRole('link', { name: 'demo_scene' }).waitFor()
  })

  test('an embedding job is submitted by its form and watched to its end', async () => {
    await page.getByRole('link', { name: 'New job' }).click()
    await page.getByRole('link', { name: 'Imagery embeddings' }).click()
    await heading('Imagery embeddings').waitFor()
    await page.getByRole('button', { name: 'Start the job' }).click()
    await page.getByText('Table name is required').waitFor()
    await page.getByLabel('GeoTIFF path').fill(join(stack.home, 'data', 'demo-scene.tif'))
    await page.getByLabel('Table name').fill('Not a name')
    await page.getByText('Table name must match').waitFor()
    await page.getByLabel('Table name').fill('e2e_tiles')
    await page.getByLabel('Model name').fill(MODEL)
    await page.getByLabel('Bands').fill('0, 1, 2')
    await page.getByRole('button', { name: 'Start the job' }).click()
    await heading('e2e_tiles').waitFor()
    await done()
    expect(await page.locator('dl.facts').first().innerText()).toMatch(/Rows\s+256/)
  })

  test('a click on a tile shows its nearest neighbours', async () => {
    await page.getByRole('link', { name: 'Explore on the map' }).click()
    await mapReady(page)
    await page.getByText('256 tiles, 64 dimensions').waitFor()
    // The tiles are there, and drawn.
    await page.getByText('Loading tiles').waitFor({ state: 'detached' })
    await mapReady(page)
    await clickMap(0.5, 0.5)
    const neighbours = page.getByRole('list', { name: 'Nearest neighbours' }).getByRole('listitem')
    await neighbours.first().waitFor()
    expect(await neighbours.count()).toBe(100)
    const shown = await neighbours.locator('.match').allInnerTexts()
    const similarities = shown.map((text) => Number(text.trim().split(/\s+/).at(-1)))
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a))
    expect(similarities[0]).toBeGreaterThan(0.5)
    const asked = await page.getByLabel('Like tile').inputValue()
    expect(asked).toMatch(/^\d+$/)
    // The image lies beneath, and each match has a picture of its own.
    await page.getByLabel('Shade over the image').waitFor()
    await page.waitForFunction(() => {
      const picture = document.querySelector<HTMLImageElement>('.matches img')
      return picture !== null && picture.complete && picture.naturalWidth > 0
    })
    // The same by keyboard: another tile by its id.
    await page.getByLabel('Like tile').fill('0')
    await page.keyboard.press('Enter')
    await page.waitForFunction((before) => document.querySelector('.matches .match')?.textContent !== before, shown[0])
  })

  test('what changed since an earlier table is listed, with pictures of both', async () => {
    await page.getByLabel('What changed since').selectOption({ index: 1 })
    const changes = page.getByRole('list', { name: 'Changes' }).getByRole('listitem')
    await changes.first().waitFor()
    expect(await changes.first().locator('img').count()).toBe(2)
    await screenshot(page, 'map-changes')
  })

  test('an area is imported, archived and looked at', async () => {
    await open('/p/local/new/osmImportArea')
    await page.getByLabel('Area name').fill('The town again')
    await drawRectangle()
    for (const [side, value] of Object.entries(TOWN)) await page.getByLabel(side, { exact: true }).fill(value)
    await page.getByRole('button', { name: 'Use this box' }).click()
    await page.getByText('km², 5 positions').waitFor()
    await page.getByLabel('streets', { exact: true }).check()
    await page.getByLabel('Table prefix').fill('again')
    await page.getByLabel('Source', { exact: true }).selectOption({ label: 'file' })
    await page.getByLabel('Path').fill('demo-town.osm.pbf')
    await page.getByRole('button', { name: 'Start the job' }).click()
    await heading('The town again').waitFor()
    // The box reaches beyond the town, and the page says so.
    await page.locator('.page-head .badge', { hasText: 'Ended with a warning' }).waitFor({ timeout: JOB_TIMEOUT_MS })
    await page.getByText('SOURCE_COVERS_PART').first().waitFor()
    await page.getByRole('row', { name: 'public.again_streets' }).getByRole('link', { name: 'Archive' }).click()
    await heading('Archive to PMTiles').waitFor()
    expect(await page.getByLabel('Table', { exact: true }).inputValue()).toBe('again_streets')
    await page.getByRole('button', { name: 'Start the job' }).click()
    await heading('again_streets').waitFor()
    await done()
    await page.getByRole('link', { name: 'Show on the map' }).click()
    await mapReady(page)
    expect(await page.locator('[id="layer-again_streets.pmtiles"]').isChecked()).toBe(true)
  })

  test('a table is looked into, shared, drawn live and dropped', async () => {
    await page.getByRole('link', { name: 'Data', exact: true }).click()
    await page.getByRole('button', { name: 'again_streets', exact: true }).click()
    const panel = page.getByRole('region', { name: 'public.again_streets' })
    await panel.getByRole('columnheader', { name: 'geom' }).waitFor()
    await panel.getByLabel('Everybody with the anon key').check()
    await page.getByRole('row', { name: 'again_streets' }).getByText('anon', { exact: true }).waitFor()
    await panel.getByRole('link', { name: 'Map' }).click()
    await mapReady(page)
    await page.getByRole('checkbox', { name: 'again_streets' }).first().waitFor()
    await page.locator('.maplibregl-ctrl-attrib', { hasText: 'OpenStreetMap' }).waitFor()
    await page.getByLabel('Colour by').first().selectOption('highway')
    const legend = page.getByRole('list', { name: 'Colours by highway' })
    await legend.getByText('residential', { exact: true }).waitFor()
    await screenshot(page, 'map-legend')
    await page.getByRole('link', { name: 'Data', exact: true }).click()
    await page.getByRole('button', { name: 'demo_pois', exact: true }).click()
    await page.getByRole('button', { name: 'Drop the table' }).click()
    await page.getByRole('button', { name: 'Drop it' }).click()
    const gone = page.getByRole('button', { name: 'demo_pois', exact: true })
    await gone.waitFor({ state: 'detached' })
    expect(await gone.count()).toBe(0)
  })

  test('a route between two clicks is drawn and told', async () => {
    await page.getByRole('link', { name: 'Route', exact: true }).click()
    await mapReady(page)
    await clickMap(0.45, 0.55)
    await page.getByText('Click where it goes').waitFor()
    await clickMap(0.6, 0.62)
    const itinerary = page.getByRole('region', { name: 'Itinerary' })
    await itinerary.waitFor()
    expect(await itinerary.getByRole('listitem').count()).toBeGreaterThanOrEqual(2)
    expect(await page.locator('.pin.marker').count()).toBe(2)
    await page.getByLabel('Travel by').selectOption('pedestrian')
    await itinerary.getByRole('button').nth(1).click()
  })

  test('a basemap lies beneath every map, and the choice stays', async () => {
    const attribution = page.locator('.maplibregl-ctrl-attrib')
    await attribution.getByText('Natural Earth').waitFor()
    await page.getByLabel('Basemap').selectOption('plain')
    await attribution.getByText('Natural Earth').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Map', exact: true }).click()
    await mapReady(page)
    expect(await page.getByLabel('Basemap').inputValue()).toBe('plain')
    await page.getByLabel('Basemap').selectOption('world')
    await attribution.getByText('Natural Earth').waitFor()
  })

  test('a function is called and its log is shown', async () => {
    await page.getByRole('link', { name: 'Functions', exact: true }).click()
    await page.getByRole('navigation', { name: 'Functions' }).getByRole('link', { name: 'hello' }).click()
    await page.getByLabel('JSON body').fill('{"name": "Ada"}')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText('Hello Ada!').waitFor()
    const log = page.getByRole('list', { name: 'Log entries' }).getByRole('listitem')
    await log.first().waitFor()
    expect(await log.count()).toBeGreaterThan(0)
  })

  test('a running job is cancelled', async () => {
    const scene = encodeURIComponent(join(stack.home, 'data', 'demo-scene.tif'))
    await open(`/p/local/new/createGeoEmbeddings?geotiffPath=${scene}&tableName=e2e_stopped&modelName=${MODEL}`)
    await page.getByLabel('Stride').fill('16')
    await page.getByLabel('Bands').fill('0,1,2')
    await page.getByRole('button', { name: 'Start the job' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    const cancelled = page.locator('.page-head .badge', { hasText: 'Cancelled' })
    await cancelled.waitFor({ timeout: JOB_TIMEOUT_MS })
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'an earlier job' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await cancelled.waitFor({ timeout: JOB_TIMEOUT_MS })
    await page.getByRole('link', { name: 'Run again' }).click()
    await heading('Imagery embeddings').waitFor()
    expect(await page.getByLabel('Table name').inputValue()).toBe('e2e_stopped')
    expect(await page.getByLabel('Stride').inputValue()).toBe('16')
  })

  describe('every page', () => {
    const PAGES = {
      projects: '/',
      data: '/p/local/data',
      jobs: '/p/local/jobs',
      schedules: '/p/local/schedules',
      webhooks: '/p/local/webhooks',
      keys: '/p/local/keys',
      tasks: '/p/local/new',
      form: '/p/local/new/osmImportArea',
      embeddings: '/p/local/new/createGeoEmbeddings',
      map: '/p/local/map',
      similarity: '/p/local/map?embeddings=e2e_tiles&like=135',
      route: '/p/local/route',
      functions: '/p/local/functions/hello',
    } as const
    const LOOKS = [
      { name: 'light', scheme: 'light', width: 1280 },
      { name: 'dark', scheme: 'dark', width: 1280 },
      { name: 'narrow', scheme: 'light', width: 400 },
      { name: 'narrow-dark', scheme: 'dark', width: 400 },
    ] as const

    for (const { name, scheme, width } of LOOKS) {
      test(`in ${name}: no serious violation, nothing beyond the edge`, async () => {
        await page.emulateMedia({ colorScheme: scheme })
        await page.setViewportSize({ width, height: 820 })
        for (const [title, path] of Object.entries(PAGES)) {
          await open(path)
          await settle()
          await screenshot(page, `${title}-${name}`)
          expect([title, await seriousViolations(page)]).toEqual([title, []])
          const beyond = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          )
          expect([title, beyond]).toEqual([title, 0])
        }
        await open('/p/local/jobs')
        await page.locator('td.what a').nth(1).click()
        await page.getByRole('heading', { name: 'Log' }).waitFor()
        await screenshot(page, `job-${name}`)
        expect(await seriousViolations(page)).toEqual([])
      })
    }

    test('can be walked with the keyboard', async () => {
      await page.setViewportSize({ width: 1280, height: 820 })
      await open('/p/local/jobs')
      await heading('Jobs').waitFor()
      const reached: string[] = []
      for (let i = 0; i < 15; i++) {
        await page.keyboard.press('Tab')
        reached.push(await page.evaluate(() => document.activeElement?.textContent?.trim().slice(0, 40) ?? ''))
      }
      for (const name of ['Skip to the content', 'Jobs', 'Map', 'Route', 'Functions', 'Keys', 'Webhooks', 'New job']) {
        expect(reached).toContain(name)
      }
    })
  })

  test('who comes back finds the list filtered as it was, and what was typed when the session ended', async () => {
    await open('/p/local/jobs')
    await page.getByLabel('State').selectOption('success')
    await page.getByRole('link', { name: 'demo_scene' }).click()
    await heading('demo_scene').waitFor()
    await page.goBack()
    await heading('Jobs').waitFor()
    expect(await page.getByLabel('State').inputValue()).toBe('success')

    await open('/p/local/new/createGeoEmbeddings')
    await page.getByLabel('GeoTIFF path').fill('/half/typed.tif')
    await page.getByLabel('Table name').fill('half_typed')
    await page.context().clearCookies()
    await watch.expecting(/401/, async () => {
      await page.getByRole('button', { name: 'Start the job' }).click()
      await page.getByText('Your session has ended').waitFor()
    })
    await page.getByLabel('E-mail').fill(EMAIL)
    await page.getByLabel('Password').fill(stack.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await heading('Imagery embeddings').waitFor()
    expect(await page.getByLabel('Table name').inputValue()).toBe('half_typed')
  })

  test('the page talked to nobody but the console, reported no error, and was sent no key', async () => {
    expect([...watch.origins]).toEqual([stack.consoleUrl])
    expect(watch.trouble).toEqual([])
    const received = await watch.received()
    expect(received.length).toBeGreaterThan(100_000)
    for (const [name, key] of Object.entries(stack.keys)) expect([name, received.includes(key)]).toEqual([name, false])
  })

  test('signing out ends it: the page asks to sign in, and the API answers 401', async () => {
    await open('/p/local/jobs')
    await page.getByRole('button', { name: `Account of ${EMAIL}` }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await screenshot(page, 'sign-in-light')
    expect(await seriousViolations(page)).toEqual([])
    expect(await page.evaluate(async () => (await fetch('/api/projects')).status)).toBe(401)
  })

  /** Two clicks on the form's map, as a person would; then the area is taken away again. */
  async function drawRectangle(): Promise<void> {
    await mapReady(page)
    await page.getByRole('button', { name: 'Rectangle' }).click()
    await page.getByText('Click one corner').waitFor()
    await clickMap(0.3, 0.4)
    await page.waitForTimeout(500)
    await clickMap(0.7, 0.7)
    await page.getByText('km², 5 positions').waitFor()
    const drawn = JSON.parse(await page.getByLabel('AOI GeoJSON').inputValue()) as {
      type: string
      coordinates: unknown[]
    }
    expect([drawn.type, drawn.coordinates.length]).toEqual(['Polygon', 1])
    await page.getByRole('button', { name: 'Clear the area' }).click()
    await page.getByText('No area yet').waitFor()
  }

  async function clickMap(x: number, y: number): Promise<void> {
    const box = await page.locator('.maplibregl-canvas').boundingBox()
    if (!box) throw new Error('the page has no map')
    await page.mouse.click(box.x + box.width * x, box.y + box.height * y)
  }

  /** Until nothing is loading. */
  async function settle(): Promise<void> {
    await page.locator('h1').first().waitFor()
    await page.waitForFunction(
      () =>
        document.querySelector('.loading') === null &&
        document.querySelector('.map-box[aria-busy="true"]') === null &&
        document.querySelector('.map-box .canvas:not([data-drawn="true"])') === null,
    )
  }
})
