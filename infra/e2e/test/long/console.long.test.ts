import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CHROMIUM,
  Watch,
  mapReady,
  screenshot,
  seriousViolations,
  startBrowser,
  walkByKeyboard,
} from '../support/browser.ts'
import { START_TIMEOUT_MS, startStack, type RunningStack } from '../support/stack.ts'

const EMAIL = 'admin@terrane.local'
const MODEL = 'builtin-texture-spectral-v2'
/** The demo town, and a pair of places in it. */
const TOWN = { west: '11.585', south: '48.085', east: '11.62', north: '48.115' }

const without = CHROMIUM === undefined ? 'SKIPPED: there is no browser at CHROMIUM_PATH or /usr/bin/chromium. ' : ''

describe.skipIf(CHROMIUM === undefined)(`${without}the console in a browser`, () => {
  let stack: RunningStack
  let browser: Browser
  let page: Page
  let watch: Watch
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    // Without a limit of tiles, a job runs long enough to be cancelled.
    stack = closing.use(await startStack({ GEOEMBEDDINGS_MAX_TILES: '0' }))
    browser = await startBrowser()
    closing.defer(() => browser.close())
    const context = await browser.newContext({ viewport: { width: 1280, height: 820 }, locale: 'en-US' })
    page = await context.newPage()
    watch = new Watch(page)
  }, START_TIMEOUT_MS + 60_000)
  afterAll(() => closing.disposeAsync())

  const open = (path: string) => page.goto(stack.consoleUrl + path)
  const heading = (name: string) => page.getByRole('heading', { name, level: 1, exact: true })
  const done = () => page.locator('.page-head .badge', { hasText: 'Done' }).waitFor()

  test('a wrong password is told, the right one signs in', async () => {
    await open('/')
    await page.getByLabel('E-mail').fill(EMAIL)
    await page.getByLabel('Password').fill('not this one')
    await watch.expecting(/401/, async () => {
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('password is wrong').waitFor()
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
    await page.getByRole('button', { name: 'A GeoTIFF at a URL or path' }).click()
    await page.getByRole('textbox', { name: 'GeoTIFF path' }).fill(join(stack.home, 'data', 'demo-scene.tif'))
    await page.getByLabel('Table name').fill('Not a name')
    await page.getByText('Table name must have only lower-case letters').waitFor()
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
    // The tiles are loaded and drawn.
    await page.getByText('Loading tiles').waitFor({ state: 'detached' })
    await mapReady(page)
    await clickMap(0.5, 0.5)
    const neighbours = page.getByRole('list', { name: 'Nearest neighbours' }).getByRole('listitem')
    await neighbours.first().waitFor()
    // The list has fifty entries, so that it can be passed with the keyboard.
    expect(await neighbours.count()).toBe(50)
    const shown = await neighbours.locator('.match').allInnerTexts()
    const similarities = shown.map((text) => Number(text.trim().split(/\s+/).at(-1)))
    expect(similarities).toEqual(similarities.toSorted((a, b) => b - a))
    expect(similarities[0]).toBeGreaterThan(0.5)
    const asked = await page.getByLabel('Similar to tile').inputValue()
    expect(asked).toMatch(/^\d+$/)
    // A tile joins the examples, another is excluded.
    for (const [key, place, examples] of [
      ['Shift', 0.6, /^\d+, \d+$/],
      ['Alt', 0.4, /^\d+, \d+, -\d+$/],
    ] as const) {
      // prettier-ignore
      await page.keyboard.down(key)
      await clickMap(place, 0.4)
      await page.keyboard.up(key)
      await expect.poll(() => page.getByLabel('Similar to tile').inputValue(), { timeout: 60_000 }).toMatch(examples)
    }
    await page.getByLabel('Colours by principal components').check()
    await page.getByText('Computing colours').waitFor({ state: 'detached' })
    await page.getByLabel('Colours by principal components').uncheck()
    // The image is drawn beneath, and each match has its own picture.
    await page.getByLabel('Opacity over the image').waitFor()
    await page.waitForFunction(() => {
      const picture = document.querySelector<HTMLImageElement>('.matches img')
      return picture !== null && picture.complete && picture.naturalWidth > 0
    })
    // The same by keyboard: another tile by its id.
    await page.getByLabel('Similar to tile').fill('0')
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
    await page.getByLabel('Topics', { exact: true }).selectOption({ label: 'Topics' })
    await page.getByLabel('streets', { exact: true }).check()
    await page.getByText('Advanced', { exact: true }).click()
    await page.getByLabel('Table prefix').fill('again')
    await page.getByLabel('Source', { exact: true }).selectOption({ label: 'file' })
    await page.getByLabel('Path').fill('demo-town.osm.pbf')
    await page.getByRole('button', { name: 'Start the job' }).click()
    await heading('The town again').waitFor()
    // The box extends beyond the town, and the page has a warning about it.
    await page.locator('.page-head .badge', { hasText: 'Ended with a warning' }).waitFor()
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
    await panel.getByLabel('Everyone with the anon key').check()
    await page.getByRole('row', { name: 'again_streets' }).getByText('anon', { exact: true }).waitFor()
    await panel.getByRole('link', { name: 'Map' }).click()
    await mapReady(page)
    await page.getByRole('checkbox', { name: 'Show again streets' }).waitFor()
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
    await page.getByText('Click the destination').waitFor()
    await clickMap(0.6, 0.62)
    const itinerary = page.getByRole('region', { name: 'Itinerary' })
    await itinerary.waitFor()
    expect(await itinerary.getByRole('listitem').count()).toBeGreaterThanOrEqual(2)
    expect(await page.locator('.pin.marker').count()).toBe(2)
    await page.getByLabel('Travel by').selectOption('pedestrian')
    await itinerary.getByRole('button').nth(1).click()
  })

  test('what can be reached from the first place is drawn by minutes', async () => {
    await page.getByLabel('Reachable from A').selectOption('15')
    const legend = page.getByRole('list', { name: 'Minutes by colour' }).getByRole('listitem')
    await legend.first().waitFor()
    expect(await legend.allInnerTexts()).toEqual(['5 minutes', '10 minutes', '15 minutes'])
    await mapReady(page)
    await screenshot(page, 'route-reach')
  })

  test('the route page opens where the streets of the graph are, wherever one looked before', async () => {
    await page.evaluate(() => localStorage.setItem('terrane.view.local', '{"center":[-70,-30],"zoom":3}'))
    await open('/p/local/route')
    await page.waitForFunction(() => {
      const { center, zoom } = JSON.parse(localStorage.getItem('terrane.view.local') ?? '{}') as {
        center: [number, number]
        zoom: number
      }
      return Math.abs(center[0] - 11.6) < 0.05 && Math.abs(center[1] - 48.1) < 0.05 && zoom > 11
    })
    expect(await page.getByRole('heading', { name: 'Route' }).count()).toBe(1)
    await mapReady(page)
    const said = await page.locator('.maplibregl-ctrl-attrib').innerText()
    expect(said.match(/OpenStreetMap/g)).toHaveLength(1)
  })

  test('a place is found by its name in the tables of the project, and is where the route starts', async () => {
    const search = page.getByRole('search')
    await search.getByLabel('Find a place by its name').fill('nothing is called this')
    await search.getByRole('button', { name: 'Find' }).click()
    await search.getByText(/^No place in .* has this name/).waitFor()
    await search.getByLabel('Find a place by its name').fill('moosstr')
    await search.getByRole('button', { name: 'Find' }).click()
    await search.getByRole('button', { name: 'Moosstraße' }).first().click()
    expect(await page.getByLabel('Place A: latitude, longitude').inputValue()).toMatch(/^48\.\d+, 11\.\d+$/)
    await screenshot(page, 'route-search')
    await page.getByRole('button', { name: 'Clear' }).click()
  })

  test('a basemap lies beneath every map, and the choice stays', async () => {
    const attribution = page.locator('.maplibregl-ctrl-attrib')
    // At street level the world's land and borders are not drawn any more, but its towns are.
    await attribution.getByText('GeoNames').waitFor()
    await page.getByText('Land and borders end at zoom 9').waitFor()
    await page.getByLabel('Basemap').selectOption('plain')
    await attribution.getByText('GeoNames').waitFor({ state: 'detached' })
    await open('/p/local/map')
    await mapReady(page)
    expect(await page.getByLabel('Basemap').inputValue()).toBe('plain')
    await page.getByLabel('Basemap').selectOption('world')
    await attribution.getByText('GeoNames').waitFor()
    await page.evaluate(() => localStorage.setItem('terrane.view.local', '{"center":[11.6,48.1],"zoom":4}'))
    await open('/p/local/map')
    await mapReady(page)
    await attribution.getByText('Natural Earth').waitFor()
    expect(await page.getByText('Land and borders end at zoom 9').count()).toBe(0)
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

  test('a function is deployed from a folder, changed, rolled back and removed', async () => {
    const folder = join(stack.home, 'page-hello')
    const answer = async (text: string) => {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'index.ts'), `export default () => new Response('${text}')`)
      await writeFile(join(folder, 'function.json'), '{"auth":"none","methods":["GET"]}')
      await page.getByRole('button', { name: 'Deploy a folder' }).click()
      await page.getByLabel('Folder with an index.ts').setInputFiles(folder)
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('page-hello')
      await page.getByRole('button', { name: 'Deploy', exact: true }).click()
      await page.getByRole('form', { name: 'Deploy a folder' }).waitFor({ state: 'detached' })
    }
    // A host may send one more call to the former version.
    const called = (text: string) =>
      expect
        .poll(async () => {
          await page.getByRole('button', { name: 'Call', exact: true }).click()
          return page.getByLabel('Body of the answer').innerText()
        })
        .toContain(text)
    await answer('the first')
    await called('the first')
    await answer('the second')
    await page.getByRole('row', { name: /^2 / }).getByText('Live').waitFor()
    await called('the second')
    await page.getByRole('button', { name: 'Roll back to version 1' }).click()
    await page.getByRole('row', { name: /^1 / }).getByText('Live').waitFor()
    await called('the first')
    page.once('dialog', (dialog) => void dialog.accept())
    await page.getByRole('button', { name: 'Remove the function' }).click()
    await page
      .getByRole('navigation', { name: 'Functions' })
      .getByRole('link', { name: 'page-hello' })
      .waitFor({ state: 'detached' })
  })

  test('a function that does not build says why', async () => {
    const folder = join(stack.home, 'does-not-build')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'index.ts'), `import { nothing } from './missing.ts'; export default nothing`)
    await page.getByRole('button', { name: 'Deploy a folder' }).click()
    await page.getByLabel('Folder with an index.ts').setInputFiles(folder)
    await watch.expecting(/422/, async () => {
      await page.getByRole('button', { name: 'Deploy', exact: true }).click()
      await page.getByText('FUNCTION_BUNDLE_FAILED').waitFor()
    })
    expect(await page.getByRole('alert').innerText()).toContain('missing.ts')
  })

  test('a file in storage is brought, linked to and deleted', async () => {
    await page.getByRole('link', { name: 'Data', exact: true }).click()
    const file = { name: 'a note.csv', mimeType: 'text/csv', buffer: Buffer.from('x,y\n11.6,48.1\n') }
    await page.getByLabel('Choose a file').setInputFiles(file)
    // The map of the file moves the list beneath it, and with it a button that is being clicked.
    await page.getByText('table: 1 row, Point').waitFor()
    await page.getByRole('button', { name: 'Files', exact: true }).click()
    const row = page.getByRole('row', { name: /a_note\.csv/ })
    await row.waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await row.getByRole('button', { name: 'Copy URL of a_note.csv' }).click()
    await row.getByText('Copied').waitFor()
    const url = await page.evaluate(() => navigator.clipboard.readText())
    expect(await (await fetch(url)).text()).toBe('x,y\n11.6,48.1\n')
    page.once('dialog', (dialog) => void dialog.accept())
    await row.getByRole('button', { name: 'Delete a_note.csv' }).click()
    await row.waitFor({ state: 'detached' })
    expect((await fetch(url)).status).toBeGreaterThanOrEqual(400)
  })

  test('a webhook is made, its secret is shown once, and it is paused and deleted', async () => {
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByLabel('URL', { exact: true }).fill('https://example.com/hook?token=hidden')
    await page.getByRole('button', { name: 'Create the webhook' }).click()
    await page.getByRole('region', { name: 'Secret', exact: true }).getByText('whsec_').waitFor()
    await page.getByRole('button', { name: 'I have saved it' }).click()
    await page.reload()
    await page.getByRole('button', { name: /^Pause / }).click()
    await page.getByText('Paused').waitFor()
    expect(await page.getByText('whsec_').count()).toBe(0)
    expect(await page.getByText('hidden').count()).toBe(0)
    await page.getByRole('button', { name: 'Deliveries' }).click()
    await page.getByText('No delivery yet').waitFor()
    page.once('dialog', (dialog) => void dialog.accept())
    await page.getByRole('button', { name: /^Delete / }).click()
    await page.getByText('No webhook yet').waitFor()
  })

  test('a running job is cancelled', async () => {
    const scene = encodeURIComponent(join(stack.home, 'data', 'demo-scene.tif'))
    await open(`/p/local/new/createGeoEmbeddings?geotiffPath=${scene}&tableName=e2e_stopped&modelName=${MODEL}`)
    await page.getByText('Advanced', { exact: true }).click()
    await page.getByLabel('Stride').fill('16')
    await page.getByLabel('Bands').fill('0,1,2')
    await page.getByRole('button', { name: 'Start the job' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    const cancelled = page.locator('.page-head .badge', { hasText: 'Cancelled' })
    await cancelled.waitFor()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'an earlier job' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await cancelled.waitFor()
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
      maps: '/p/local/maps',
      sql: '/p/local/sql',
      map: '/p/local/maps/new?table=public.demo_streets',
      explore: '/p/local/map',
      similarity: '/p/local/map?embeddings=e2e_tiles&like=135',
      route: '/p/local/route',
      functions: '/p/local/functions/hello',
    } as const
    const LOOKS = [
      { name: 'light', scheme: 'light', width: 1440 },
      { name: 'dark', scheme: 'dark', width: 1440 },
      { name: 'laptop', scheme: 'light', width: 1024 },
      { name: 'laptop-dark', scheme: 'dark', width: 1024 },
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

    test('a page and a map that do not exist have a heading', async () => {
      await open('/p/local/nowhere')
      await heading('Page not found').waitFor()
      await open(`/p/local/maps/${crypto.randomUUID()}`)
      await heading('There is no such map').waitFor()
      expect(await page.locator('h1').count()).toBe(1)
    })

    test('every page can be walked with the keyboard: all that can be clicked has its turn, is named and is seen', async () => {
      await page.setViewportSize({ width: 1440, height: 900 })
      for (const [title, path] of Object.entries(PAGES)) {
        await open(path)
        await settle()
        const walk = await walkByKeyboard(page)
        expect([title, walk.missed, walk.nameless, walk.unseen]).toEqual([title, [], [], []])
      }
    })

    test('can be walked with the keyboard', async () => {
      await page.setViewportSize({ width: 1280, height: 820 })
      await open('/p/local/jobs')
      await heading('Jobs').waitFor()
      const reached: string[] = []
      for (let i = 0; i < 15; i++) {
        await page.keyboard.press('Tab')
        reached.push(await page.evaluate(() => document.activeElement?.textContent?.trim().slice(0, 40) ?? ''))
      }
      for (const name of ['Skip to the content', 'Jobs', 'Maps', 'Route', 'Functions', 'Keys', 'Webhooks', 'New job']) {
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
    await page.getByRole('button', { name: 'A GeoTIFF at a URL or path' }).click()
    await page.getByRole('textbox', { name: 'GeoTIFF path' }).fill('/half/typed.tif')
    await page.getByLabel('Table name').fill('half_typed')
    await page.context().clearCookies()
    await watch.expecting(/401/, async () => {
      // The next request of the page ends the session and hides the form; it may also be an earlier request that is
      // still running.
      await page.locator('button[type=submit]', { hasText: 'Start the job' }).dispatchEvent('click')
      await page.getByText('Your session has expired').waitFor()
    })
    await page.getByLabel('E-mail').fill(EMAIL)
    await page.getByLabel('Password').fill(stack.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await heading('Imagery embeddings').waitFor()
    expect(await page.getByLabel('Table name').inputValue()).toBe('half_typed')
  })

  test('the page talked to the console alone, reported no error, and was sent no key', async () => {
    expect([...watch.origins]).toEqual([stack.consoleUrl])
    expect(watch.trouble).toEqual([])
    const received = await watch.received()
    expect(received.length).toBeGreaterThan(100_000)
    for (const [name, key] of Object.entries(stack.keys)) expect([name, received.includes(key)]).toEqual([name, false])
  })

  test('keys are shown to a member who asks, and gone with the page', async () => {
    await open('/p/local/keys')
    await page.getByRole('button', { name: 'Show the keys' }).click()
    await page
      .getByLabel('Value of the key anon')
      .getByText(stack.keys['anonKey'] ?? '')
      .waitFor()
    await page.getByLabel('With supabase-js').waitFor()
    expect(await seriousViolations(page)).toEqual([])
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('button', { name: 'Show the keys' }).waitFor()
    expect(await page.getByText(stack.keys['anonKey'] ?? '').count()).toBe(0)
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

  /** Draws with two clicks on the form's map; then the area is removed again. */
  async function drawRectangle(): Promise<void> {
    await mapReady(page)
    await page.getByRole('button', { name: 'Rectangle' }).click()
    await page.getByText('Click one corner').waitFor()
    await clickMap(0.3, 0.4)
    await page.waitForTimeout(500)
    await clickMap(0.7, 0.7)
    await page.getByText('km², 5 positions').waitFor()
    const drawn = JSON.parse(await page.getByLabel('Area', { exact: true }).inputValue()) as {
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

  /** Waits until nothing is loading. */
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
