import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveAlone, serveZip } from '../support/alone-page.ts'
import { CHROMIUM, Watch, dropFile, mapReady, screenshot, seriousViolations, startBrowser } from '../support/browser.ts'
import { START_TIMEOUT_MS, startStack, type RunningStack } from '../support/stack.ts'

const without = CHROMIUM === undefined ? 'SKIPPED: there is no browser at CHROMIUM_PATH or /usr/bin/chromium. ' : ''

describe.skipIf(CHROMIUM === undefined)(`${without}a map in a browser`, () => {
  let stack: RunningStack
  let browser: Browser
  let page: Page
  let watch: Watch
  let link = ''
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
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
  }, START_TIMEOUT_MS + 60_000)
  afterAll(() => closing.disposeAsync())
  const saved = () => page.getByText(/^Saved, version/).waitFor()

  test('a file dropped on the list of maps is a styled layer, without a click', async () => {
    await page.goto(`${stack.consoleUrl}/p/local/maps`)
    await page.getByText('No map yet').waitFor()
    await watch.expecting(/409/, async () => {
      await dropFile(page, 'districts.geojson', Buffer.from(districts()))
      await page.getByRole('checkbox', { name: 'Show districts' }).waitFor()
    })
    // The map was zoomed to the layer.
    await expect.poll(() => page.locator('.maplibregl-ctrl-scale').innerText()).toMatch(/^(\d{1,2}\sk|\d{3}\s)m$/)
    await mapReady(page)
    expect(await page.getByLabel('Colour by').inputValue()).toBe('population')
    await screenshot(page, 'maps-dropped')
    expect(await seriousViolations(page)).toEqual([])
    // A dropped file is saved without a click.
    await saved()
    expect(page.url()).toMatch(/\/maps\/[\da-f-]{36}$/)
  })

  test('each class of the legend has the rows that SQL counts', async () => {
    for (const [method, count] of [
      ['natural', 6],
      ['equal', 4],
      ['log', 3],
    ] as const) {
      await page.getByLabel('Method').selectOption(method)
      await page.getByLabel('Number of classes').selectOption(String(count))
      const rows = page.getByRole('list', { name: 'Colours by population' }).getByRole('listitem')
      const isShown = async () => ({ starts: (await startsOf(method)).length, entries: await rows.count() })
      await expect.poll(isShown).toEqual({ starts: count, entries: count })
      const starts = await startsOf(method)
      const told = (await rows.allInnerTexts()).map((text) =>
        Number(text.trim().split(/\s+/).at(-1)?.replaceAll(',', '')),
      )
      const counted = await Promise.all(
        starts.map((from, i) => countRows(i === 0 ? null : from, starts[i + 1] ?? null)),
      )
      expect([method, told]).toEqual([method, counted])
    }
  })

  test('a question is written as SQL, seen on a map, and kept as a table', async () => {
    const map = page.url()
    await page.goto(`${stack.consoleUrl}/p/local/sql`)
    await page.getByRole('button', { name: 'Nearest' }).click()
    await page.getByLabel('Rows of').selectOption('public.districts')
    await page.getByLabel('nearest row of').selectOption('public.demo_pois')
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.getByRole('heading', { name: '144 rows' }).waitFor()
    expect(await page.getByRole('textbox', { name: 'SQL' }).inputValue()).toContain('st_distance')
    expect(await seriousViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Map', exact: true }).click()
    await mapReady(page)
    await screenshot(page, 'sql-map')
    expect(await seriousViolations(page)).toEqual([])
    await page.getByRole('textbox', { name: 'SQL' }).fill('select id, name from districts where id < :most')
    await page.getByLabel('Type of most').selectOption('bigint')
    await page.getByLabel('Value of most').fill('4')
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('heading', { name: /^\d rows$/ }).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('some_districts')
    await page.getByRole('button', { name: 'Make a table' }).click()
    await page.getByText('Table some_districts has').waitFor()
    expect(await seriousViolations(page)).toEqual([])
    const kept = await ask('/rest/v1/some_districts?id=lt.3&select=name', 'public')
    expect([kept.status, ((await kept.json()) as unknown[]).length > 0]).toEqual([200, true])
    await page
      .getByRole('textbox', { name: 'SQL' })
      .fill('select name, population, geom from districts where id < :most')
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('heading', { name: '3 rows' }).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('first_districts')
    await page.getByRole('button', { name: 'Keep the query' }).click()
    await page.getByText('/rest/v1/rpc/first_districts?most=4').waitFor()
    const called = await ask('/rest/v1/rpc/first_districts?most=3&select=name', 'public')
    expect([called.status, ((await called.json()) as unknown[]).length]).toEqual([200, 2])
    const sqlPage = page.url()
    await page.getByRole('link', { name: 'Show it on a map' }).click()
    await page.getByRole('checkbox', { name: 'Show first districts' }).waitFor()
    await mapReady(page)
    await expect.poll(() => drawnOf(page), { interval: 1500 }).toBe(true)
    expect(await seriousViolations(page)).toEqual([])
    await screenshot(page, 'maps-kept-query')
    await page.goto(sqlPage)
    await page.getByText('Kept queries').click()
    await page.getByText('first_districts(most bigint').waitFor()
    expect(await seriousViolations(page)).toEqual([])
    page.once('dialog', (dialog) => void dialog.accept())
    const remove = page.getByRole('button', { name: 'Delete the query first_districts' })
    await remove.click()
    await remove.waitFor({ state: 'detached' })
    expect((await ask('/rest/v1/rpc/first_districts', 'public')).status).toBe(404)
    await watch.expecting(/400/, async () => {
      await page.getByRole('textbox', { name: 'SQL' }).fill('select nothing from districts')
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByText('column "nothing" does not exist').waitFor()
    })
    await page.goto(map)
  })

  test('changes are taken back and done again, layers are moved by keyboard', async () => {
    await page.getByLabel('Labels').selectOption('name')
    await page.getByRole('button', { name: 'Undo' }).click()
    expect(await page.getByLabel('Labels').inputValue()).toBe('')
    await page.getByRole('button', { name: 'Redo' }).click()
    expect(await page.getByLabel('Labels').inputValue()).toBe('name')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('button', { name: /demo_pois/ }).click()
    const names = page.locator('.layer-name')
    await expect.poll(() => names.allInnerTexts()).toEqual(['demo pois', 'districts'])
    await page.getByRole('button', { name: /Move demo pois/ }).focus()
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => names.allInnerTexts()).toEqual(['districts', 'demo pois'])
    await saved()
    await page.reload()
    await expect.poll(() => names.allInnerTexts()).toEqual(['districts', 'demo pois'])
  })

  test('a cell is changed, refused in the words of the database, and taken back', async () => {
    await page.getByRole('button', { name: 'districts', exact: true }).click()
    await page.getByText('Rows of districts').click()
    await page.getByRole('checkbox', { name: 'Edit cells' }).check()
    const name = page.getByLabel('name of row 1', { exact: true })
    const before = await name.inputValue()
    await name.fill('Renamed')
    await name.press('Enter')
    const undo = page.getByRole('button', { name: 'Undo the last edit' })
    await undo.and(page.locator(':enabled')).waitFor()
    const renamed = () =>
      ask('/rest/v1/districts?select=name&name=eq.Renamed', 'public').then((answer) => answer.json())
    expect(await renamed()).toEqual([{ name: 'Renamed' }])
    const population = page.getByLabel('population of row 1', { exact: true })
    const count = await population.inputValue()
    await watch.expecting(/400/, async () => {
      await population.fill('many')
      await population.press('Enter')
      await page.getByText('invalid input syntax for type integer').waitFor()
    })
    await expect.poll(() => population.inputValue()).toBe(count)
    expect(await seriousViolations(page)).toEqual([])
    await undo.click()
    await expect.poll(() => name.inputValue()).toBe(before)
    expect(await renamed()).toEqual([])
  })

  test('a chart counts all rows, then those in view', async () => {
    await page.getByRole('button', { name: 'Chart', exact: true }).click()
    await page.getByRole('img', { name: 'Histogram of population' }).last().waitFor()
    await page.getByText('144 rows with a value').waitFor()
    await screenshot(page, 'maps-chart')
    await page.getByLabel('Column of the chart').selectOption('name')
    await page.getByText('132 rows with other values').waitFor()
    expect(await seriousViolations(page)).toEqual([])
    await page.getByText('Rows of districts').click()
  })

  test('two rasters are compared up to a line that keys move, and the second map is gone at the end', async () => {
    const scene = await readFile(join(stack.home, 'data', 'demo-scene.tif'))
    for (const name of ['before.tif', 'after.tif']) {
      await dropFile(page, name, scene)
      await page.getByRole('checkbox', { name: `Show ${name.replace('.tif', '')}` }).waitFor()
    }
    await page.getByRole('button', { name: 'Compare two rasters' }).click()
    await page.locator('.compare-over .map-box[aria-busy=false]').waitFor()
    const line = page.getByRole('slider', { name: 'Position of the divider' })
    await line.press('End')
    expect(await line.inputValue()).toBe('100')
    await line.press('PageDown')
    expect(Number(await line.inputValue())).toBeLessThan(100)
    await page.getByLabel('Left raster', { exact: true }).selectOption('after')
    await screenshot(page, 'maps-compare')
    expect(await seriousViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Fade', exact: true }).click()
    await page.getByRole('slider', { name: 'Opacity of the left raster' }).waitFor()
    await page.getByRole('button', { name: 'End the comparison' }).click()
    await page.getByRole('button', { name: 'Compare two rasters' }).waitFor()
    expect(await page.locator('canvas.maplibregl-canvas').count()).toBe(1)
    await page.getByRole('button', { name: 'Remove the layer' }).click()
    await page.getByRole('button', { name: 'before', exact: true }).click()
    await page.getByRole('button', { name: 'Remove the layer' }).click()
    await saved()
  })

  test('a map is printed on one page with its title, legend, scale and attribution', async () => {
    await page.evaluate(() => {
      const { body } = document
      globalThis.print = () => void (body.dataset['printed'] = 'asked')
    })
    const before = await page.locator('.maplibregl-ctrl-scale').innerText()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Print, or save as PDF' }).click()
    await page.locator('body[data-printed=asked]').waitFor()
    expect(await page.locator('img.printed-map').evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(2 * 1047)
    await page.emulateMedia({ media: 'print' })
    for (const part of ['.map-legend', '.maplibregl-ctrl-scale', '.maplibregl-ctrl-attrib', '.studio-head .title'])
      expect([part, await page.locator(part).first().isVisible()]).toEqual([part, true])
    expect(await page.getByRole('navigation', { name: 'Project' }).isVisible()).toBe(false)
    await screenshot(page, 'maps-printed')
    await page.emulateMedia({ media: null })
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
    expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
    expect(isLandscape(pdf)).toBe(true)
    await page.locator('html:not(.printing)').waitFor()
    expect(isLandscape((await page.pdf({ preferCSSPageSize: true })).toString('latin1'))).toBe(false)
    await expect.poll(() => page.locator('.maplibregl-ctrl-scale').innerText()).toBe(before)
  })

  test('a map is saved as a page that a plain host serves, with its tiles and nothing from here', async () => {
    await page.getByRole('checkbox', { name: 'Show demo pois' }).uncheck()
    await page.getByRole('button', { name: 'Zoom to districts' }).click()
    await mapReady(page)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Save as static page' }).click()
    expect(await seriousViolations(page)).toEqual([])
    const download = page.waitForEvent('download')
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click()
    const zip = await readFile(await (await download).path())
    await page.getByRole('status').getByText('is saved').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await using host = await serveZip(zip)
    const stranger = await (await browser.newContext()).newPage()
    const strangers = new Watch(stranger)
    const about = await (await fetch(`${host.url}/map.json`)).text()
    // Neither the server nor a hidden layer is in the page.
    for (const word of [new URL(stack.consoleUrl).host, new URL(stack.urls.origin).host, 'demo_pois'])
      expect([word, about.includes(word)]).toEqual([word, false])
    await stranger.goto(host.url)
    await stranger.locator('body[data-drawn=true]').waitFor()
    await stranger.getByRole('list', { name: 'Colours by population' }).waitFor()
    const box = await stranger.locator('#map canvas').boundingBox()
    await stranger.mouse.click(box!.x + box!.width / 2, box!.y + box!.height / 2)
    await stranger
      .getByRole('region', { name: 'Feature' })
      .getByText(/^District \d+$/)
      .waitFor()
    expect([strangers.trouble, [...strangers.origins]]).toEqual([[], [host.url]])
    expect(await seriousViolations(stranger)).toEqual([])
    await screenshot(stranger, 'maps-static')
    await page.getByRole('checkbox', { name: 'Show demo pois' }).check()
    await saved()
  })

  test('a map that was changed in another window is not overwritten', async () => {
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByLabel('Title of the map').fill('Changed elsewhere')
    await other.getByText(/^Saved, version/).waitFor()
    await watch.expecting(/409/, async () => {
      await page.getByLabel('Title of the map').fill('Changed here')
      await page.getByText('Not saved: changed elsewhere').waitFor()
    })
    await page.getByRole('button', { name: 'Load the other version' }).click()
    await expect.poll(() => page.getByLabel('Title of the map').inputValue()).toBe('Changed elsewhere')
    await other.close()
  })

  test('a public map opens without a session, and its style in MapLibre alone', async () => {
    // The other version has a map of its own, which begins with the stored view.
    await mapReady(page)
    await page.getByRole('button', { name: 'Zoom to districts' }).click()
    await page.getByRole('button', { name: 'Share' }).click()
    await using elsewhere = await serveAlone()
    await page.getByLabel('Pages that may embed it').fill(elsewhere.url)
    await page.getByRole('button', { name: 'Make it public' }).click()
    link = (await page.getByLabel('Link').innerText()).trim()
    // Others see the view of this moment.
    expect(await savedCenter()).toEqual([expect.closeTo(5.924, 2), expect.closeTo(49.524, 2)])
    expect(await seriousViolations(page)).toEqual([])
    const stranger = await (await browser.newContext()).newPage()
    const strangers = new Watch(stranger)
    await stranger.goto(link)
    await mapReady(stranger)
    await stranger.getByRole('list', { name: 'Colours by population' }).waitFor()
    // Faster clicks would zoom in.
    await expect.poll(() => drawnOf(stranger), { interval: 1500 }).toBe(true)
    expect(strangers.trouble).toEqual([])
    expect(await seriousViolations(stranger)).toEqual([])
    await screenshot(stranger, 'maps-public')
    const style = (await (await fetch(link.replace('/m/', '/api/m/'))).json()) as object
    const alone = await (await browser.newContext()).newPage()
    await alone.goto(elsewhere.url)
    await alone.evaluate((given) => (globalThis as unknown as { show: (style: unknown) => void }).show(given), style)
    await expect.poll(() => alone.evaluate(drawnLayers)).toContain('fill')
  })

  test('a map that is private again is closed, and its key too', async () => {
    const style = (await (await fetch(link.replace('/m/', '/api/m/'))).json()) as {
      sources: Record<string, { tiles: string[] }>
    }
    const [source] = Object.values(style.sources)
    const tile = source!.tiles[0]!.replace('{z}/{x}/{y}', '0/0/0')
    const headers = { origin: new URL(link).origin }
    expect((await fetch(tile, { headers })).status).toBe(200)
    await page.getByRole('button', { name: 'Make it private' }).click()
    await page.getByRole('button', { name: 'Make it public' }).waitFor()
    await expect.poll(async () => (await fetch(link.replace('/m/', '/api/m/'))).status).toBe(404)
    await expect.poll(async () => (await fetch(tile, { headers })).status).not.toBe(200)
    // MapLibre 6.17 threw this once in three runs, after labels came and went; its cause is not known.
    expect(watch.trouble.filter((line) => !line.includes('Length of new data'))).toEqual([])
  })

  test('a raster dropped on another page is saved without a click, and a public map says that it is not public', async () => {
    await page.goto(`${stack.consoleUrl}/p/local/jobs`)
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor()
    const scene = await readFile(join(stack.home, 'data', 'demo-scene.tif'))
    await dropFile(page, 'scene.tif', scene)
    await page.getByRole('checkbox', { name: 'Show scene', exact: true }).waitFor()
    await saved()
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Make it public' }).click()
    const stranger = await (await browser.newContext()).newPage()
    const zooms = new Set<string | undefined>()
    stranger.on('request', (request) => {
      if (request.url().includes('/raster/v1/tiles/')) zooms.add(/Quad\/(\d+)\//.exec(request.url())?.[1])
    })
    await stranger.goto((await page.getByLabel('Link').innerText()).trim())
    await stranger.getByText('Layers that are not public: scene').waitFor()
    await mapReady(stranger)
    // The engine asks for the tiles above one that it does not get, zoom by zoom.
    expect(zooms.size).toBe(1)
    await screenshot(stranger, 'maps-not-public')
  })

  async function savedCenter(): Promise<unknown> {
    const path = `/rest/v1/maps?select=style->center&id=eq.${page.url().split('/').at(-1)}`
    const [row] = (await (await ask(path, 'geoembeddings')).json()) as { center: unknown }[]
    return row!.center
  }

  /** Limits of the classes in the saved map; empty while it has another method. */
  async function startsOf(method: string): Promise<readonly number[]> {
    const path = `/rest/v1/maps?select=style&id=eq.${page.url().split('/').at(-1)}`
    const [row] = (await (await ask(path, 'geoembeddings')).json()) as {
      style: { metadata: { 'terrane:map': { layers: { color: { method: string; starts: number[] } }[] } } }
    }[]
    const color = row!.style.metadata['terrane:map'].layers[0]!.color
    return color.method === method ? color.starts : []
  }

  /** Number of rows from one number to below another; null for no limit. */
  async function countRows(from: number | null, to: number | null): Promise<number> {
    const range = [
      from !== null && `population=gte.${Math.ceil(from)}`,
      to !== null && `population=lt.${Math.ceil(to)}`,
    ].filter(Boolean)
    const answer = await ask(`/rest/v1/districts?select=id&${range.join('&')}`, 'public')
    return ((await answer.json()) as unknown[]).length
  }

  function ask(path: string, profile: string): Promise<Response> {
    const key = stack.keys['serviceRoleKey']!
    const headers = { apikey: key, authorization: `Bearer ${key}`, 'accept-profile': profile }
    return fetch(stack.urls.origin + path, { headers })
  }
})

/** Runs in the page: kinds of layers with at least one visible feature. */
function drawnLayers(): string[] {
  const { map } = globalThis as { map?: { queryRenderedFeatures(): { layer: { type: string } }[] } }
  return [...new Set(map?.queryRenderedFeatures().map(({ layer }) => layer.type))]
}

/** Whether the first page of a PDF is wider than high. */
function isLandscape(pdf: string): boolean {
  const [, width, height] = /\/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)/.exec(pdf) ?? []
  return Number(width) > Number(height)
}

/** Whether a click in the middle of the map finds a feature. */
async function drawnOf(page: Page): Promise<boolean> {
  const box = await page.locator('.map-box .canvas').boundingBox()
  await page.mouse.click(box!.x + box!.width * 0.4, box!.y + box!.height * 0.4)
  return (await page.getByRole('region', { name: 'Feature' }).count()) > 0
}

/** Side of a district in degrees: all of them lie in few tiles. */
const SIDE = 0.004

/** A grid of 144 districts with unevenly distributed numbers. */
function districts(): string {
  const features = Array.from({ length: 144 }, (_, i) => {
    const [west, south] = [5.9 + (i % 12) * SIDE, 49.5 + Math.floor(i / 12) * SIDE]
    const ring = [
      [west, south],
      [west + SIDE, south],
      [west + SIDE, south + SIDE],
      [west, south + SIDE],
      [west, south],
    ]
    const population = Math.round(Math.exp(5 + ((i * 37) % 144) / 24))
    const properties = { name: `District ${i}`, population }
    return { type: 'Feature', properties, geometry: { type: 'Polygon', coordinates: [ring] } }
  })
  return JSON.stringify({ type: 'FeatureCollection', features })
}
