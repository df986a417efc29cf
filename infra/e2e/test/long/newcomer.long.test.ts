import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@terrane/client'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHROMIUM, mapReady, screenshot, startBrowser } from '../support/browser.ts'
import {
  OGR2OGR,
  OSMIUM,
  boxOf,
  extractsAt,
  hasOgr2ogr,
  hasOsmium,
  makeFiles,
  piped,
  python,
  run,
  serveFolder,
} from '../support/newcomer.ts'
import { START_TIMEOUT_MS, startStack, type RunningStack } from '../support/stack.ts'

// A user who has just started the stack, with an empty home and files from other tools. Everything after `npm start` is
// done on the page, except for the commands that it prints.

const EMAIL = 'admin@terrane.local'
/** Maximum clicks from the page after sign-in to tiles similar to one of the user's own image. */
const MOST_CLICKS = 5
/** The demo town as GeoJSON for pasting. */
const TOWN = {
  type: 'Polygon',
  coordinates: [
    [
      [11.59, 48.09],
      [11.612, 48.09],
      [11.612, 48.11],
      [11.59, 48.11],
      [11.59, 48.09],
    ],
  ],
}
/** Rows of the files that GDAL made. */
const TABLES = [
  { file: 'parcels.gpkg', table: 'parcels', rows: 20 },
  { file: 'squares.geojson', table: 'squares', rows: 20 },
  { file: 'stops.csv', table: 'stops', rows: 20 },
  { file: 'lots.zip', table: 'lots', rows: 20 },
  { file: 'walk.gpx', table: 'walk', rows: 5 },
] as const

const missing = [
  ...(CHROMIUM === undefined ? ['a browser at CHROMIUM_PATH or /usr/bin/chromium'] : []),
  ...(python === undefined ? ['a Python with GDAL and NumPy (GDAL_PYTHON)'] : []),
]

describe.skipIf(missing.length > 0)(
  `${missing.length > 0 ? `SKIPPED, there is no ${missing.join(' and no ')}: ` : ''}a newcomer with files of their own`,
  () => {
    let folder: string
    let stack: RunningStack
    let browser: Browser
    let page: Page
    let clicks = 0
    let served: string
    /** Storage path of an upload. */
    let stored = ''
    const closing = new AsyncDisposableStack()
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'terrane-newcomer-'))
      closing.defer(() => rm(folder, { recursive: true, force: true }))
      await makeFiles(folder)
      const files = closing.use(await serveFolder(folder))
      served = files.url
      stack = closing.use(await startStack({ HOME: folder, TERRANE_FETCH_ALLOW_HOSTS: new URL(served).host }))
      browser = await startBrowser()
      closing.defer(() => browser.close())
      const context = await browser.newContext({ viewport: { width: 1280, height: 820 }, locale: 'en-US' })
      page = await context.newPage()
    }, START_TIMEOUT_MS + 60_000)
    afterAll(() => closing.disposeAsync())

    const click = async (what: Locator) => {
      clicks += 1
      await what.click()
    }
    const link = (name: string) => page.getByRole('link', { name, exact: true })
    const start = () => page.getByRole('button', { name: 'Start the job' })
    const ended = (how: RegExp = /^Done$/) => page.locator('.page-head .badge', { hasText: how }).waitFor()
    const fileOf = (name: string) => readFile(join(folder, name))
    const optionOf = async (name: string) => {
      const option = page.locator('option', { hasText: name }).first()
      await option.waitFor({ state: 'attached' })
      return (await option.innerText()).trim()
    }
    const upload = async (name: string) => {
      await page.getByLabel('Choose a file').setInputFiles(join(folder, name))
      await page.getByRole('status').getByText(name).waitFor()
    }

    test('signs in with the password that was printed', async () => {
      expect(stack.output()).toContain(stack.password)
      await page.goto(stack.consoleUrl)
      await page.getByLabel('E-mail').fill(EMAIL)
      await page.getByLabel('Password').fill(stack.password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await link('Local project').click()
      await page.getByRole('heading', { name: 'Data', level: 1 }).waitFor()
    })

    test('drops an image and sees tiles like one of it, over the image, in few clicks', async () => {
      clicks = 0
      await upload('my scene.tif')
      await page.getByText('1,024 × 1,024 pixels, 4 bands of uint8').waitFor()
      await click(link('Embed the imagery'))
      await click(start())
      await ended()
      await click(link('Explore on the map'))
      await page.getByText('Loading tiles').waitFor({ state: 'detached' })
      await mapReady(page)
      const map = page.locator('.map-box .canvas')
      const box = (await map.boundingBox())!
      clicks += 1
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
      const before = performance.now()
      await page.waitForFunction(() => {
        const picture = document.querySelector<HTMLImageElement>('.matches img')
        return picture !== null && picture.complete && picture.naturalWidth > 0
      })
      console.log(`clicks: ${clicks}, first picture of a match after ${Math.round(performance.now() - before)} ms`)
      expect(clicks).toBeLessThanOrEqual(MOST_CLICKS)
      await screenshot(page, 'newcomer-similar')
    })

    for (const { file, table, rows } of TABLES) {
      test(`drops ${file} and finds its ${rows} rows in a table`, async () => {
        await link('Data').click()
        await upload(file)
        await link('Import the file').click()
        await start().click()
        await ended()
        await link('Data').click()
        const row = page.getByRole('row', { name: new RegExp(`^${table} `) })
        await row.waitFor()
        expect(await row.locator('[data-label="Rows"]').innerText()).toBe(String(rows))
      })
    }

    test.skipIf(!hasOgr2ogr)(
      `${hasOgr2ogr ? '' : 'SKIPPED, there is no ogr2ogr (OGR2OGR): '}drops a file that native ogr2ogr has made`,
      async () => {
        const made = piped(
          `${OGR2OGR} -f GeoJSON -t_srs EPSG:4326 /vsistdout/ /vsistdin/`,
          await fileOf('squares.geojson'),
        )
        await writeFile(join(folder, 'native.geojson'), made.stdout)
        await link('Data').click()
        await upload('native.geojson')
        await link('Import the file').click()
        await start().click()
        await ended()
        await link('Data').click()
        const row = page.getByRole('row', { name: /^native / })
        await row.waitFor()
        expect(await row.locator('[data-label="Rows"]').innerText()).toBe('20')
      },
    )

    test('embeds an image that lies at an address', async () => {
      await link('Data').click()
      await link('Add data').click()
      await page.getByRole('link', { name: 'Imagery embeddings' }).click()
      await page.getByRole('button', { name: 'A GeoTIFF at a URL or path' }).click()
      await page.getByRole('textbox', { name: 'GeoTIFF path' }).fill(`${served}/my%20scene.tif`)
      await page.getByLabel('Table name').fill('from_afar')
      await start().click()
      await ended()
      await link('Data').click()
      const row = page.getByRole('row', { name: /^geoembeddings\.from_afar / })
      await row.waitFor()
      expect(Number(await row.locator('[data-label="Rows"]').innerText())).toBeGreaterThan(1)
    })

    test('chooses a stored file in a form', async () => {
      await link('Data').click()
      await link('Add data').click()
      await page.getByRole('link', { name: 'File import' }).click()
      await page.getByLabel('File', { exact: true }).selectOption({ label: await optionOf('parcels.gpkg') })
      stored = await page.getByLabel('Path', { exact: true }).inputValue()
      expect(stored).toMatch(/^\w+-\w+\/parcels\.gpkg$/)
      await page.getByLabel('Table name').fill('parcels_again')
      await start().click()
      await ended()
    })

    test('runs a job from a program of their own', async () => {
      const { jobs } = createClient({ url: stack.urls.worker, key: stack.keys['serviceRoleKey'] ?? '' })
      const input = { storagePath: { bucket: 'uploads', path: stored }, tableName: 'from_program' }
      const { tables } = await jobs.run('ogr2ogrImport', input)
      expect(tables.map(({ table, rows }) => [table, rows])).toEqual([['public.from_program', 20]])
    })

    test('drops map data, whose area is filled in, and gets its streets', async () => {
      await writeFile(join(folder, 'our town.osm.pbf'), await readFile(join(stack.home, 'data', 'demo-town.osm.pbf')))
      await link('Data').click()
      await upload('our town.osm.pbf')
      await link('Import the map data').click()
      await page.getByText('km², 5 positions').waitFor()
      await start().click()
      await ended(/Done|Ended with/)
      await link('Data').click()
      const streets = page.getByRole('row', { name: /^our_town_streets / })
      await streets.waitFor()
      expect(Number(await streets.locator('[data-label="Rows"]').innerText())).toBeGreaterThan(100)
    })

    test('describes regions by what is mapped in them, from the map data that was dropped', async () => {
      await link('Data').click()
      await link('Add data').click()
      await page.getByRole('link', { name: 'Region embeddings' }).click()
      await page.getByLabel('Table name').fill('town_cells')
      await page.getByLabel('H3 resolution').fill('9')
      await page.getByLabel('Area', { exact: true }).fill(JSON.stringify(TOWN))
      await page.getByLabel('Source', { exact: true }).selectOption({ label: 'tables' })
      await page.getByLabel('Prefix', { exact: true }).fill('our_town')
      await start().click()
      await ended(/Done|Ended with/)
      await link('Data').click()
      const cells = page.getByRole('row', { name: /^geoembeddings\.town_cells / })
      await cells.waitFor()
      expect(Number(await cells.locator('[data-label="Rows"]').innerText())).toBeGreaterThan(10)
    })

    test('shares a table, and reads it with the command that the page shows', async () => {
      await link('Data').click()
      await page.getByRole('button', { name: 'parcels', exact: true }).click()
      const panel = page.getByRole('region', { name: 'public.parcels' })
      await panel.getByLabel('Everyone with the anon key').check()
      await page
        .getByRole('row', { name: /^parcels / })
        .getByText('anon', { exact: true })
        .waitFor()
      const command = (await panel.getByText('curl "$PROJECT_URL').innerText()).trim()
      const env = { PROJECT_URL: stack.urls.origin, ANON_KEY: stack.keys['anonKey'] ?? '' }
      expect(JSON.parse(await run(command, env))).toHaveLength(10)
    })

    test('finds that every command that was printed works', async () => {
      const commands = stack.output().match(/curl (?:"|http)[^\n]*/g) ?? []
      expect(commands.length).toBeGreaterThanOrEqual(4)
      for (const command of commands) {
        const answer = await run(command.replace('curl ', 'curl --fail-with-body '))
        expect([command.slice(0, 60), answer.length > 1]).toEqual([command.slice(0, 60), true])
      }
      expect(stack.output()).not.toMatch(/^# no (?:route|function)/m)
    })
  },
)

// oxlint-disable-next-line node/no-process-env -- The folder of the outside data.
const shared = process.env['TERRANE_SHARED'] ?? join(import.meta.dirname, '../../../../../shared')
const monaco = join(shared, 'data', 'osm', 'monaco-2023.osm.pbf')

describe.skipIf(CHROMIUM === undefined || !existsSync(monaco))(
  `${existsSync(monaco) ? '' : 'SKIPPED, there is no extract of Monaco in TERRANE_SHARED: '}a newcomer with real roads and an endpoint of their own`,
  () => {
    test('starts with both by the settings of the README, and every printed command works', async () => {
      await using closing = new AsyncDisposableStack()
      const folder = await mkdtemp(join(tmpdir(), 'terrane-newcomer-'))
      closing.defer(() => rm(folder, { recursive: true, force: true }))
      const functions = join(folder, 'functions')
      await mkdir(join(functions, 'hello'), { recursive: true })
      await writeFile(join(functions, 'hello', 'index.ts'), `export default () => new Response('mine')`)
      await mkdir(join(functions, 'broken'))
      await writeFile(join(functions, 'broken', 'index.ts'), `import { x } from './nowhere.ts'; export default x`)
      // An extract written by osmium, served in the form of Geofabrik.
      const extract = hasOsmium ? piped(`${OSMIUM} cat -F pbf -f pbf - -o -`, await readFile(monaco)).stdout : null
      if (extract === null) console.log('SKIPPED: there is no osmium (OSMIUM), the extract is as it came')
      const bytes = extract ?? (await readFile(monaco))
      await writeFile(join(folder, 'monaco.osm.pbf'), bytes)
      const md5 = createHash('md5').update(bytes).digest('hex')
      await writeFile(join(folder, 'monaco.osm.pbf.md5'), `${md5}  monaco.osm.pbf\n`)
      const files = closing.use(await serveFolder(folder))
      await writeFile(join(folder, 'index-v1.json'), JSON.stringify(extractsAt(files.url)))
      const stack = closing.use(
        await startStack({
          HOME: folder,
          TERRANE_ROUTING_OSM: monaco,
          TERRANE_FUNCTIONS_DIR: functions,
          TERRANE_SETTINGS: JSON.stringify({ worker: { geofabrikUrl: files.url } }),
          TERRANE_FETCH_ALLOW_HOSTS: new URL(files.url).host,
        }),
      )
      for (const command of stack.output().match(/curl (?:"|http)[^\n]*/g) ?? []) {
        const answer = await run(command.replace('curl ', 'curl --fail-with-body '))
        expect([command.slice(0, 60), answer.length > 1]).toEqual([command.slice(0, 60), true])
      }
      const browser = await startBrowser()
      closing.defer(() => browser.close())
      const page = await (await browser.newContext({ viewport: { width: 1280, height: 820 } })).newPage()
      await page.goto(stack.consoleUrl)
      await page.getByLabel('E-mail').fill(EMAIL)
      await page.getByLabel('Password').fill(stack.password)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('link', { name: 'Local project', exact: true }).click()
      await page.getByRole('link', { name: 'Route', exact: true }).click()
      await mapReady(page)
      await page.waitForFunction(() => {
        const { center } = JSON.parse(localStorage.getItem('terrane.view.local') ?? '{"center":[0,0]}') as {
          center: [number, number]
        }
        return Math.abs(center[0] - 7.42) < 0.05 && Math.abs(center[1] - 43.74) < 0.05
      })
      await page.getByLabel('Place A: latitude, longitude').fill('43.7325, 7.4189')
      await page.getByLabel('Place B: latitude, longitude').fill('43.7396, 7.4276')
      await page.getByRole('region', { name: 'Itinerary' }).getByRole('listitem').first().waitFor()
      await page.getByRole('link', { name: 'Functions', exact: true }).click()
      const list = page.getByRole('navigation', { name: 'Functions' })
      await list.getByRole('link', { name: 'broken' }).getByText('Not built').waitFor()
      await list.getByRole('link', { name: 'broken' }).click()
      await page.getByLabel('Build output').getByText('nowhere.ts').waitFor()
      await screenshot(page, 'newcomer-function-not-built')
      await page.goto(`${stack.consoleUrl}/p/local/new/osmImportArea`)
      await page.getByLabel('Area name').fill('Monte Carlo')
      await page.getByLabel('Area', { exact: true }).fill(JSON.stringify(boxOf(7.42, 43.735, 7.43, 43.742)))
      await page.getByText('km², 5 positions').waitFor()
      await page.getByRole('button', { name: 'Start the job' }).click()
      await page.locator('.page-head .badge', { hasText: /Done|Ended with/ }).waitFor()
      await page.getByRole('row', { name: 'public.monte_carlo_streets' }).waitFor()
    })
  },
)
