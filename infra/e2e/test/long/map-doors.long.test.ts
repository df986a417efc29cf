import { createClient } from '@terrane/client'
import { Keys } from '@terrane/control'
import { openDatabase } from '@terrane/database'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveAlone } from '../support/alone-page.ts'
import { CHROMIUM, screenshot, startBrowser, Watch } from '../support/browser.ts'
import { START_TIMEOUT_MS, startStack, type RunningStack } from '../support/stack.ts'

// MapLibre draws tiles, an archive, labels and icons of one project, with a key in the URL and no other host.

const without = CHROMIUM === undefined ? 'SKIPPED: there is no browser at CHROMIUM_PATH or /usr/bin/chromium. ' : ''
/** A tile by the specification: layer `made` of version 2 and extent 4096 with four points around its middle. */
const MADE = '1a1f0a046d61646512121801220e2180108010802000008020ff1f002880207802'
const SETUP = `
  create table public.areas (id int primary key, kind text, geom geometry(Polygon, 4326));
  insert into public.areas values
    (1, 'open', st_makeenvelope(11.555, 48.104, 11.58, 48.115, 4326)), (2, 'secret', st_makeenvelope(11.625, 48.085, 11.645, 48.095, 4326));
  alter table public.areas enable row level security;
  create policy open on public.areas for select to anon using (kind = 'open');
  create table public.roads (id int primary key, geom geometry(LineString, 4326));
  insert into public.roads values (1, 'SRID=4326;LINESTRING(11.56 48.088, 11.62 48.088)');
  create table public.signs (id int primary key, name text, geom geometry(Point, 4326));
  insert into public.signs values (1, 'HHHH', 'SRID=4326;POINT(11.6 48.1)');
  create table public.spots (id int primary key, geom geometry(Point, 4326));
  insert into public.spots values (1, 'SRID=4326;POINT(11.63 48.11)');
  create function public.made(z int, x int, y int) returns bytea language sql immutable as $$ select decode('${MADE}', 'hex') $$;
  grant select on public.areas, public.roads, public.signs to anon`
/** One colour for each layer, and one for rows of another role. */
const COLORS = {
  area: '#ff0000',
  road: '#00ff00',
  made: '#0000ff',
  spot: '#ff00ff',
  label: '#00ffff',
  icon: '#ffff00',
  secret: '#808000',
} as const
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><rect width="24" height="24" fill="${COLORS.icon}"/></svg>`
const STYLE = {
  version: 8,
  center: [11.6, 48.1],
  zoom: 12,
  sprite: '/maps/v1/sprites/doors',
  glyphs: '/maps/v1/fonts/{fontstack}/{range}.pbf',
  sources: {
    composite: { type: 'vector', url: '/vector/v1/areas,roads,signs' },
    made: { type: 'vector', tiles: ['/vector/v1/made/{z}/{x}/{y}'] },
    archive: { type: 'vector', url: '/vector/v1/archives/pmtiles/spots.pmtiles' },
  },
  layers: [
    { id: 'background', type: 'background', paint: { 'background-color': '#ffffff' } },
    { id: 'made', type: 'circle', source: 'made', 'source-layer': 'made', paint: circle(COLORS.made) },
    {
      id: 'areas',
      type: 'fill',
      source: 'composite',
      'source-layer': 'areas',
      paint: { 'fill-color': ['match', ['get', 'kind'], 'secret', COLORS.secret, COLORS.area] },
    },
    {
      id: 'roads',
      type: 'line',
      source: 'composite',
      'source-layer': 'roads',
      paint: { 'line-color': COLORS.road, 'line-width': 8 },
    },
    { id: 'spots', type: 'circle', source: 'archive', 'source-layer': 'spots', paint: circle(COLORS.spot) },
    {
      id: 'icons',
      type: 'symbol',
      source: 'composite',
      'source-layer': 'signs',
      layout: { 'icon-image': 'square', 'icon-allow-overlap': true },
    },
    {
      id: 'labels',
      type: 'symbol',
      source: 'composite',
      'source-layer': 'signs',
      layout: {
        'text-field': ['get', 'name'],
        'text-font': ['Noto Sans Bold'],
        'text-size': 40,
        'text-offset': [0, 1.5],
        'text-allow-overlap': true,
      },
      paint: { 'text-color': COLORS.label },
    },
  ],
}

describe.skipIf(CHROMIUM === undefined)(`${without}a map of one project`, () => {
  let stack: RunningStack
  let key = ''
  let page: Page
  let watch: Watch
  let pageUrl = ''
  const answers: { readonly url: string; readonly status: number }[] = []
  const blocked: string[] = []
  const closing = new AsyncDisposableStack()
  beforeAll(async () => {
    stack = closing.use(await startStack({}))
    const alone = closing.use(await serveAlone())
    pageUrl = alone.url
    key = await prepare(stack, pageUrl)
    const browser = await startBrowser()
    closing.defer(() => browser.close())
    page = await (await browser.newContext({ viewport: { width: 640, height: 460 } })).newPage()
    page.setDefaultTimeout(120_000)
    watch = new Watch(page)
    const allowed = new Set([pageUrl, stack.urls.origin].map((url) => new URL(url).host))
    await page.context().route('**', (route) => {
      const { host, protocol } = new URL(route.request().url())
      if (!protocol.startsWith('http') || allowed.has(host)) return route.continue()
      blocked.push(host)
      return route.abort()
    })
    page.on('response', (response) => answers.push({ url: response.url(), status: response.status() }))
  }, START_TIMEOUT_MS + 300_000)
  afterAll(() => closing.disposeAsync())

  test('is drawn in each of its layers', async () => {
    await page.goto(pageUrl)
    const style = `${stack.urls.origin}/maps/v1/styles/doors?apikey=${key}`
    await page.evaluate((given) => {
      const options = { fadeDuration: 0, canvasContextAttributes: { preserveDrawingBuffer: true } }
      ;(globalThis as unknown as { show: (style: string, options: object) => void }).show(given, options)
    }, style)
    await expect.poll(() => page.evaluate(isDrawn), { timeout: 300_000, interval: 500 }).toBe(true)
    await screenshot(page, 'map-doors')
    const counts = await page.evaluate(countPixels, COLORS)
    const { secret, ...shown } = counts
    const few = Object.entries(shown).filter(([, count]) => count < 100)
    expect([few, secret]).toEqual([[], 0])
  }, 400_000)

  test('has its tiles, archive, fonts and sprite from the project, and asked no other host', () => {
    const asked = answers.filter(({ url }) => url.startsWith(stack.urls.origin))
    expect(asked.filter(({ status }) => status !== 200 && status !== 204)).toEqual([])
    for (const part of [
      '/vector/v1/areas,roads,signs/12/',
      '/vector/v1/made/12/',
      '/vector/v1/archives/pmtiles/spots.pmtiles/',
      '/maps/v1/fonts/Noto%20Sans%20Bold/0-255.pbf',
      '/maps/v1/sprites/doors.json',
      '/maps/v1/sprites/doors.png',
    ])
      expect([part, asked.some(({ url }) => url.includes(part) && url.includes(`apikey=${key}`))]).toEqual([part, true])
    expect([blocked, [...watch.origins].toSorted()]).toEqual([
      [],
      [new URL(stack.urls.origin).origin, pageUrl].toSorted(),
    ])
    expect(watch.trouble).toEqual([])
  })

  test('opens to no other page', async () => {
    // The bucket of archives is public in the local stack.
    for (const path of [
      '/maps/v1/styles/doors',
      '/maps/v1/sprites/doors.json',
      '/vector/v1/areas',
      '/vector/v1/made',
    ]) {
      const url = `${stack.urls.origin}${path}?apikey=${key}`
      const other = await fetch(url, { headers: { origin: 'https://elsewhere.example.org' } })
      expect([path, other.status]).toEqual([path, 403])
      expect([path, (await fetch(url, { headers: { origin: pageUrl } })).status]).toEqual([path, 200])
    }
  })
})

function circle(color: string) {
  return { 'circle-color': color, 'circle-radius': 14 }
}

/** Fills the project, and makes the key of the page. */
async function prepare(stack: RunningStack, pageUrl: string): Promise<string> {
  await using database = await openDatabase({
    url: stack.urls.database,
    max: 1,
    applicationName: 'test',
    onError: () => {},
  })
  await database.query(SETUP)
  const service = stack.keys['serviceRoleKey']!
  const { jobs } = createClient({ url: stack.urls.worker, key: service })
  await jobs.run('archiveToPmtiles', { table: 'spots', zooms: [0, 12] })
  for (const [path, body] of [
    ['sprites/doors/square.svg', ICON],
    ['styles/doors', JSON.stringify(STYLE)],
  ] as const) {
    const url = `${stack.urls.origin}/maps/v1/${path}?public=true`
    const { status } = await fetch(url, { method: 'PUT', headers: { apikey: service }, body })
    if (status !== 201) throw new Error(`${path} was answered with ${status}`)
  }
  const { rows } = await database.query<{ id: string; organization_id: string }>(
    'select id, organization_id from terrane.projects',
  )
  const { key } = await new Keys(database, null).issue({
    projectId: rows[0]!.id,
    organizationId: rows[0]!.organization_id,
    role: 'anon',
    limits: {
      tables: ['public.areas', 'public.roads', 'public.signs', 'public.made', 'pmtiles/spots.pmtiles'],
      origins: [pageUrl],
    },
  })
  return key
}

interface PageMap {
  loaded(): boolean
  areTilesLoaded(): boolean
  getCanvas(): HTMLCanvasElement
}

/** Runs in the page: whether everything is loaded and drawn. */
function isDrawn(): boolean {
  const { map } = globalThis as { map?: PageMap }
  return map?.loaded() === true && map.areTilesLoaded()
}

/** Runs in the page: pixels of each colour. */
function countPixels<Name extends string>(colors: Readonly<Record<Name, string>>): Record<Name, number> {
  const canvas = (globalThis as unknown as { map: PageMap }).map.getCanvas()
  const copy = document.createElement('canvas')
  copy.width = canvas.width
  copy.height = canvas.height
  const context = copy.getContext('2d')!
  context.drawImage(canvas, 0, 0)
  const { data } = context.getImageData(0, 0, copy.width, copy.height)
  const counts = {} as Record<Name, number>
  for (const [name, color] of Object.entries(colors) as [Name, string][]) {
    const wanted = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
    counts[name] = 0
    for (let i = 0; i < data.length; i += 4)
      if (wanted.every((value, channel) => Math.abs(value - data[i + channel]!) <= 2)) counts[name]++
  }
  return counts
}
