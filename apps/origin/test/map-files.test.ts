// Slow: fonts are drawn range by range in a process.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Keys } from '@terrane/control'
import { randomCases } from '@terrane/testing/property'
import { PbfReader } from 'pbf'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { drawField } from '../src/maps/glyph-field.ts'
import { DrawingProcess } from '../src/maps/drawing-process.ts'
import { openOrigin, settingsOf, type TestOrigin } from './harness.ts'
import { townArchive } from './town-archive.ts'

const PAGE = 'https://maps.example.org'
const RED =
  '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10" fill="#f00"/></svg>'
const BLUE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="12" height="12"><circle cx="6" cy="6" r="6" fill="#00f"/></svg>'

let plain: TestOrigin
let origin: TestOrigin
let pageKey: string
beforeAll(async () => {
  plain = await openOrigin()
  const env = { TERRANE_CONTROL_DATABASE_URL: plain.db.url, ...settingsOf({}, { keys: { cacheMs: 0 } }) }
  origin = await openOrigin(env, plain)
  const { rows } = await plain.db.database.query<{ id: string; organization_id: string }>(
    'select id, organization_id from terrane.projects',
  )
  const issued = await new Keys(plain.db.database, null).issue({
    projectId: rows[0]!.id,
    organizationId: rows[0]!.organization_id,
    role: 'anon',
    limits: { tables: ['public.shown', 'closed/town.pmtiles'], origins: [PAGE] },
  })
  pageKey = issued.key
})
afterAll(async () => {
  await origin[Symbol.asyncDispose]()
  await plain[Symbol.asyncDispose]()
})

type Init = Omit<RequestInit, 'headers'> & { readonly key?: string; readonly headers?: Record<string, string> }
const ask = (path: string, { key = origin.keys.anon, headers = {}, ...init }: Init = {}) =>
  fetch(`${origin.url}/maps/v1${path}`, { ...init, headers: { apikey: key, ...headers } })
const put = (path: string, body: string | Uint8Array, key = origin.keys.service) =>
  ask(path, { key, method: 'PUT', body: body as string })
const codeOf = async (asked: Promise<Response>) => {
  const answer = await asked
  return [answer.status, ((await answer.json()) as { code?: string }).code]
}
const pixelsOf = async (png: Uint8Array) => {
  const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true })
  return {
    ...info,
    at: (x: number, y: number) => [...data.subarray((y * info.width + x) * 4, (y * info.width + x) * 4 + 4)],
  }
}

/** Ids of the glyphs of a range (https://github.com/mapbox/node-fontnik, proto/glyphs.proto). */
function glyphIds(bytes: Uint8Array): number[] {
  const ids: number[] = []
  const glyph = (tag: number, _: null, pbf: PbfReader) => void (tag === 1 && ids.push(pbf.readVarint()))
  const stack = (tag: number, _: null, pbf: PbfReader) => void (tag === 3 && pbf.readMessage(glyph, null))
  new PbfReader(bytes).readFields((tag, _, pbf) => void (tag === 1 && pbf.readMessage(stack, null)), null)
  return ids
}

describe('a style', () => {
  const style = {
    version: 8,
    sprite: '/maps/v1/sprites/town',
    glyphs: '/maps/v1/fonts/{fontstack}/{range}.pbf',
    sources: {
      ours: { type: 'vector', tiles: ['/vector/v1/shown/{z}/{x}/{y}?name=eq.a'] },
      theirs: { type: 'vector', url: 'https://elsewhere.example.org/tiles.json' },
    },
    layers: [{ id: 'background', type: 'background' }],
  }

  test('is kept, served with whole addresses, listed, replaced and deleted', async () => {
    expect((await put('/styles/town', JSON.stringify(style))).status).toBe(201)
    const asService = { key: origin.keys.service }
    const served = await (await ask('/styles/town', asService)).json()
    expect(served).toEqual({
      ...style,
      sprite: `${origin.url}/maps/v1/sprites/town`,
      glyphs: `${origin.url}/maps/v1/fonts/{fontstack}/{range}.pbf`,
      sources: {
        ...style.sources,
        ours: { type: 'vector', tiles: [`${origin.url}/vector/v1/shown/{z}/{x}/{y}?name=eq.a`] },
      },
    })
    expect((await put('/styles/town', JSON.stringify({ ...style, name: 'Town' }))).status).toBe(200)
    expect(await (await ask('/styles/town', asService)).json()).toMatchObject({ name: 'Town' })
    expect(await (await ask('/styles', asService)).json()).toMatchObject({
      styles: [{ name: 'town', isPublic: false }],
    })
    expect((await ask('/styles/town', { ...asService, method: 'DELETE' })).status).toBe(204)
    expect(await codeOf(ask('/styles/town', asService))).toEqual([404, 'MAP_FILE_NOT_FOUND'])
    expect((await ask('/styles/town', { ...asService, method: 'DELETE' })).status).toBe(404)
  })

  test('is read by others once it is public, and stays what it was where a save does not say', async () => {
    await put('/styles/kept', JSON.stringify(style))
    const seen = async () => [
      (await ask('/styles/kept')).status,
      (await ask('/styles/kept', { key: origin.keys.user })).status,
    ]
    expect(await seen()).toEqual([404, 404])
    expect(await (await ask('/styles')).json()).toEqual({ styles: [] })
    await put('/styles/kept?public=true', JSON.stringify(style))
    await put('/styles/kept', JSON.stringify(style))
    expect(await seen()).toEqual([200, 200])
    await put('/styles/kept?public=false', JSON.stringify(style))
    expect(await seen()).toEqual([404, 404])
    expect((await put('/styles/kept?public=yes', JSON.stringify(style))).status).toBe(400)
  })

  test('passes the key of a page on to the addresses of this origin alone', async () => {
    await put('/styles/page?public=true', JSON.stringify(style))
    const url = `${origin.url}/maps/v1/styles/page?apikey=${pageKey}`
    const served = (await (await fetch(url, { headers: { origin: PAGE } })).json()) as typeof style
    expect([served.sprite, served.glyphs, served.sources.ours.tiles[0], served.sources.theirs.url]).toEqual([
      `${origin.url}/maps/v1/sprites/town?apikey=${pageKey}`,
      `${origin.url}/maps/v1/fonts/{fontstack}/{range}.pbf?apikey=${pageKey}`,
      `${origin.url}/vector/v1/shown/{z}/{x}/{y}?name=eq.a&apikey=${pageKey}`,
      'https://elsewhere.example.org/tiles.json',
    ])
    expect((await fetch(url, { headers: { origin: 'https://elsewhere.example.org' } })).status).toBe(403)
    expect((await fetch(url)).status).toBe(403)
    expect((await fetch(`${origin.url}/maps/v1/styles/page`)).status).toBe(401)
    expect((await fetch(url, { method: 'DELETE', headers: { origin: PAGE } })).status).toBe(403)
  })

  test.each([
    ['no JSON', '{', 'BAD_MAP_FILE'],
    ['no object', '[1]', 'BAD_MAP_FILE'],
    ['nothing', '', 'BAD_MAP_FILE'],
    ['no style', '{"version":8}', 'BAD_MAP_FILE'],
    ['a layer of no type', '{"version":8,"sources":{},"layers":[{"id":"x","type":"none"}]}', 'BAD_MAP_FILE'],
    ['a style of null sources', '{"version":8,"sources":null,"layers":[]}', 'BAD_MAP_FILE'],
    ['a style of deep nesting', `{"version":8,"sources":{},"layers":${'['.repeat(200)}${']'.repeat(200)}}`, 'PGRST102'],
  ])('that is %s is refused', async (_, body, code) => {
    expect(await codeOf(put('/styles/bad', body))).toEqual([400, code])
  })

  test('is written by the service role alone', async () => {
    for (const key of [origin.keys.anon, origin.keys.user]) {
      expect((await put('/styles/mine?public=true', JSON.stringify(style), key)).status).toBe(403)
      expect((await ask('/styles/page', { key, method: 'DELETE' })).status).toBe(403)
      const rest = {
        method: 'POST',
        body: '{}',
        headers: { apikey: key, 'content-profile': 'geoembeddings', 'content-type': 'application/json' },
      }
      expect([401, 403]).toContain((await fetch(`${origin.url}/rest/v1/map_files`, rest)).status)
    }
    expect((await put(`/styles/big`, ' '.repeat(1_048_577))).status).toBe(413)
    for (const name of ['..', '-x', 'a%2Fb', 'x'.repeat(101), '%00', '%0a'])
      expect([name, (await put(`/styles/${name}`, JSON.stringify(style))).status >= 400]).toEqual([name, true])
  })

  test('of another role is in no answer, asked for in turns and at once', async () => {
    await origin.db.database.query(`create policy by_claim on geoembeddings.map_files for select to authenticated
      using (kind = 'style' and name = 'of ' || (current_setting('request.jwt.claims')::jsonb ->> 'team'))`)
    const teams = ['a', 'b', 'c']
    const keys = await Promise.all(
      teams.map((team) => origin.sign({ role: 'authenticated', sub: crypto.randomUUID(), team })),
    )
    for (const team of teams) await put(`/styles/of ${team}`, JSON.stringify({ ...style, name: team }))
    await randomCases(25, async (random) => {
      const at = Math.floor(random() * 9)
      const answers = await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const [caller, asked] = [(at + i) % 3, Math.floor((at + i) / 3) % 3]
          const answer = await ask(`/styles/of ${teams[asked]}`, { key: keys[caller]! })
          const { name } = (await answer.json()) as { name?: string }
          return {
            found: [answer.status, name ?? null],
            expected: caller === asked ? [200, teams[caller]] : [404, null],
          }
        }),
      )
      for (const { found, expected } of answers) expect(found).toEqual(expected)
    })
    await origin.db.database.query('drop policy by_claim on geoembeddings.map_files')
  })
})

describe('a sprite', () => {
  let made: number[]
  beforeAll(async () => {
    const green = { create: { width: 8, height: 6, channels: 3 as const, background: '#0f0' } }
    made = [
      (await put('/sprites/town/red.svg?public=true', RED)).status,
      (await put('/sprites/town/blue?public=true', BLUE)).status,
      (await put('/sprites/town/secret.svg', RED)).status,
      (await put('/sprites/town/green@2x.png?public=true', await sharp(green).png().toBuffer())).status,
    ]
  })

  test('takes icons of either type', () => expect(made).toEqual([201, 201, 201, 201]))

  test.each([
    ['', 1],
    ['@2x', 2],
  ])('is one sheet with the icons in their places: town%s', async (at, ratio) => {
    const index = (await (await ask(`/sprites/town${at}.json`)).json()) as Record<string, Record<string, number>>
    const { width, height } = index['red']!
    expect([width, height]).toEqual([20 * ratio, 10 * ratio])
    expect(Object.entries(index).map(([name, { pixelRatio }]) => [name, pixelRatio])).toEqual([
      ['blue', ratio],
      ['green', 2],
      ['red', ratio],
    ])
    const answer = await ask(`/sprites/town${at}.png`)
    expect(answer.headers.get('content-type')).toBe('image/png')
    const sheet = await pixelsOf(await answer.bytes())
    const middle = (name: string) => {
      const {
        x,
        y,
        width: wide,
        height: high,
      } = index[name]! as { x: number; y: number; width: number; height: number }
      return sheet.at(x + Math.floor(wide / 2), y + Math.floor(high / 2))
    }
    expect([middle('red'), middle('blue'), middle('green')]).toEqual([
      [255, 0, 0, 255],
      [0, 0, 255, 255],
      [0, 255, 0, 255],
    ])
    const boxes = Object.values(index) as { x: number; y: number; width: number; height: number }[]
    for (const a of boxes)
      for (const b of boxes)
        expect(
          a === b || a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y,
        ).toBe(true)
  })

  test('has the icons that the caller may read', async () => {
    const names = async (key: string) =>
      Object.keys((await (await ask('/sprites/town.json', { key })).json()) as object)
    expect([await names(origin.keys.anon), await names(origin.keys.service)]).toEqual([
      ['blue', 'green', 'red'],
      ['blue', 'green', 'red', 'secret'],
    ])
    expect((await ask('/sprites/town/secret')).status).toBe(404)
    expect(await (await ask('/sprites/town/red.svg')).text()).toBe(RED)
    expect((await ask('/sprites/none.json')).status).toBe(404)
    expect((await ask('/sprites/town')).status).toBe(404)
    const url = `${origin.url}/maps/v1/sprites/town@2x.png?apikey=${pageKey}`
    expect((await fetch(url, { headers: { referer: `${PAGE}/map` } })).status).toBe(200)
    expect((await fetch(url)).status).toBe(403)
  })

  test('changes with its icons', async () => {
    const tag = async () => (await ask('/sprites/town.png')).headers.get('etag')
    const before = await tag()
    await put('/sprites/town/red.svg', RED.replace('#f00', '#800'))
    expect(await tag()).not.toBe(before)
    await put('/sprites/town/red.svg', RED)
    expect(await tag()).toBe(before)
    expect((await ask('/sprites/town/red', { key: origin.keys.service, method: 'DELETE' })).status).toBe(204)
    expect(Object.keys((await (await ask('/sprites/town.json')).json()) as object)).toEqual(['blue', 'green'])
    await put('/sprites/town/red.svg?public=true', RED)
  })

  test.each([
    ['text', 'no picture'],
    ['an SVG that is cut off', RED.slice(0, 80)],
    ['an SVG without a size that fits', RED.replaceAll('20', '2000')],
    ['a PNG that is cut off', '\u0089PNG\r\n'],
  ])('takes no icon that is %s', async (_, body) => {
    expect(await codeOf(put('/sprites/town/bad', Buffer.from(body, 'latin1')))).toEqual([400, 'BAD_MAP_FILE'])
  })

  test('draws no file of the machine', async () => {
    const href = import.meta.resolve('./map-files.test.ts')
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="10" height="10"><image xlink:href="${href}" width="10" height="10"/><image href="http://127.0.0.1:1/x.png" width="10" height="10"/></svg>`
    expect((await put('/sprites/outside/file.svg', svg)).status).toBe(201)
    const sheet = await pixelsOf(await (await ask('/sprites/outside.png', { key: origin.keys.service })).bytes())
    expect(sheet.at(5, 5)).toEqual([0, 0, 0, 0])
  })
})

describe('fonts', () => {
  const file = (script: string) =>
    readFile(createRequire(import.meta.url).resolve(`@fontsource/noto-sans/files/noto-sans-${script}-700-normal.woff`))

  test('of Noto Sans come with the origin: letters of several scripts', async () => {
    expect(await (await ask('/fonts')).json()).toEqual({
      fonts: ['Noto Sans Bold', 'Noto Sans Bold Italic', 'Noto Sans Italic', 'Noto Sans Regular'],
    })
    const has = async (range: string, text: string) => {
      const answer = await ask(`/fonts/Noto Sans Regular/${range}.pbf`)
      expect(answer.headers.get('content-type')).toBe('application/x-protobuf')
      const ids = new Set(glyphIds(await answer.bytes()))
      expect([range, Array.from(text).filter((sign) => !ids.has(sign.codePointAt(0)!))]).toEqual([range, []])
    }
    await has('0-255', 'Zürich 1')
    await has('256-511', 'Łź')
    await has('768-1023', 'Αθήνα')
    await has('1024-1279', 'Київ')
    await has('2304-2559', 'दिल्ली')
    expect(glyphIds(await (await ask('/fonts/Noto Sans Bold/57344-57599.pbf')).bytes())).toEqual([])
  })

  test('of a stack are the known ones; a stack without any is an error that names them', async () => {
    const [one, stack] = await Promise.all(
      ['Noto Sans Regular', 'Open Sans Regular,Noto Sans Regular'].map(async (name) =>
        (await ask(`/fonts/${name}/0-255.pbf`)).bytes(),
      ),
    )
    expect(Buffer.from(stack!).equals(one!)).toBe(true)
    const refused = await ask('/fonts/Open Sans Regular,Arial Unicode MS Regular/0-255.pbf')
    expect([refused.status, ((await refused.json()) as { hint: string }).hint]).toEqual([
      404,
      expect.stringContaining('Noto Sans Regular'),
    ])
  })

  test.each(['0-256', '1-256', '65536-65791', '0-255.png', 'x', '-256--1'])(
    'the range %s is refused',
    async (range) => {
      expect(await codeOf(ask(`/fonts/Noto Sans Bold/${range}${range.includes('.') ? '' : '.pbf'}`))).toEqual([
        400,
        'BAD_RANGE',
      ])
    },
  )

  test('are uploaded, complete each other in a stack, and are under the same rights', async () => {
    const uploaded = await put('/fonts/Town', await file('greek'))
    expect([uploaded.status, await uploaded.json()]).toEqual([201, { name: 'Town', face: 'Noto Sans Bold' }])
    expect((await ask('/fonts/Town/768-1023.pbf')).status).toBe(404)
    await put('/fonts/Town?public=true', await file('greek'))
    const ids = (bytes: Uint8Array) => glyphIds(bytes).length
    expect(ids(await (await ask('/fonts/Town/768-1023.pbf')).bytes())).toBeGreaterThan(50)
    expect(ids(await (await ask('/fonts/Town/0-255.pbf')).bytes())).toBeLessThan(20)
    expect(ids(await (await ask('/fonts/Town,Noto Sans Bold/0-255.pbf')).bytes())).toBeGreaterThan(150)
    const url = `${origin.url}/maps/v1/fonts/Town/0-255.pbf?apikey=${pageKey}`
    expect((await fetch(url, { headers: { origin: PAGE } })).status).toBe(200)
    expect((await ask('/fonts/Town', { key: origin.keys.service, method: 'DELETE' })).status).toBe(204)
    expect((await ask('/fonts/Town/0-255.pbf')).status).toBe(404)
  })

  test('that cannot be read are refused', async () => {
    const font = await file('greek')
    for (const bad of [Buffer.from('no font'), Buffer.alloc(0), font.subarray(0, 2000)])
      expect(await codeOf(put('/fonts/Bad', bad))).toEqual([400, 'BAD_MAP_FILE'])
    expect((await put('/fonts/Bad', Buffer.alloc(6 * 1024 * 1024 + 1))).status).toBe(413)
  })
})

describe('the files of a project', () => {
  const LARGEST = 6_291_456
  const left = async () => {
    const { rows } = await origin.db.database.query<{ files: number; bytes: number }>(
      'select 5000 - count(*)::int as files, 268435456 - coalesce(sum(octet_length(content)), 0)::int as bytes from geoembeddings.map_files',
    )
    return rows[0]!
  }
  const fill = (files: number, bytes: number) =>
    origin.db.database.query(
      `insert into geoembeddings.map_files (kind, folder, name, content, media_type)
       select 'icon', 'filler', gen_random_uuid(), c, 'image/png' from generate_series(1, ${files}) i, decode(repeat('00', ${bytes}), 'hex') c`,
    )

  test.each([
    ['files', async () => fill((await left()).files, 1)],
    [
      'bytes',
      async () => {
        await fill(Math.floor((await left()).bytes / LARGEST), LARGEST)
        await fill(1, (await left()).bytes)
      },
    ],
  ])('are bounded: of as many %s as it may have none is added until one is deleted', async (_, toFull) => {
    await toFull()
    const more = () => put('/styles/more', '{"version":8,"sources":{},"layers":[]}')
    const refused = await more()
    expect([refused.status, await refused.json()]).toEqual([
      413,
      expect.objectContaining({ code: 'PT413', hint: expect.stringContaining('DELETE') as string }),
    ])
    await origin.db.database.query(`delete from geoembeddings.map_files where folder = 'filler'`)
    expect((await more()).status).toBe(201)
    await ask('/styles/more', { key: origin.keys.service, method: 'DELETE' })
  })
})

describe('an archive of a private bucket', () => {
  test('is opened by a publishable key that names it, with its description', async () => {
    const service = origin.client(origin.keys.service)
    await service.storage.createBucket('closed', { public: false })
    for (const name of ['town.pmtiles', 'other.pmtiles'])
      await service.storage.from('closed').upload(name, await townArchive())
    const archives = `${origin.url}/vector/v1/archives/closed`
    const statusOf = async (path: string, headers: Record<string, string> = { origin: PAGE }) =>
      (await fetch(`${archives}/${path}?apikey=${pageKey}`, { headers })).status
    const about = await fetch(`${archives}/town.pmtiles?apikey=${pageKey}`, { headers: { origin: PAGE } })
    const { tiles } = (await about.json()) as { tiles: string[] }
    expect(tiles).toEqual([`${archives}/town.pmtiles/{z}/{x}/{y}.mvt?apikey=${pageKey}`])
    const tag = { origin: PAGE, 'if-none-match': about.headers.get('etag')! }
    expect([await statusOf('town.pmtiles/10/544/355'), await statusOf('town.pmtiles', tag)]).toEqual([200, 304])
    expect([await statusOf('other.pmtiles'), await statusOf('other.pmtiles/10/544/355')]).toEqual([404, 404])
    expect(await statusOf('town.pmtiles', {})).toBe(403)
    expect((await fetch(`${archives}/town.pmtiles`)).status).toBe(401)
  })
})

describe('a strong ETag', () => {
  test('is on files, tiles, descriptions and features, and 304 on what the client has', async () => {
    await origin.db.database.query(`
      create table public.shown (id int primary key, name text, geom geometry(Point, 4326));
      insert into public.shown values (1, 'a', 'SRID=4326;POINT(11.58 48.14)');
      grant select on public.shown to anon`)
    await put('/styles/tagged?public=true', '{"version":8,"sources":{},"layers":[]}')
    await put('/sprites/tagged/red.svg?public=true', RED)
    const paths = [
      '/maps/v1/styles/tagged',
      '/maps/v1/styles',
      '/maps/v1/sprites/tagged.json',
      '/maps/v1/sprites/tagged@2x.png',
      '/maps/v1/fonts/Noto%20Sans%20Regular/0-255.pbf',
      '/vector/v1/catalog',
      '/vector/v1/shown',
      '/vector/v1/shown/style.json',
      '/vector/v1/shown/10/544/355',
      '/ogc/v1/',
      '/ogc/v1/api',
      '/ogc/v1/collections/public.shown',
      '/ogc/v1/collections/public.shown/items',
      '/ogc/v1/collections/public.shown/items?f=html',
      '/ogc/v1/collections/public.shown/items/1',
      '/ogc/v1/collections/public.shown/tiles/WebMercatorQuad/10/355/544',
    ]
    for (const path of paths) {
      for (const encoding of ['identity', 'gzip', 'br']) {
        const headers = { apikey: origin.keys.anon, 'accept-encoding': encoding }
        const first = await fetch(`${origin.url}${path}`, { headers })
        const etag = first.headers.get('etag')
        expect([path, first.status, etag]).toEqual([path, 200, expect.stringMatching(/^"[\w-]+"$/)])
        expect([path, first.headers.get('cache-control')]).toEqual([path, expect.stringContaining('no-cache')])
        const again = await fetch(`${origin.url}${path}`, { headers: { ...headers, 'if-none-match': `"x", ${etag}` } })
        expect([path, again.status, again.headers.get('etag'), await again.text()]).toEqual([path, 304, etag, ''])
      }
    }
  })

  test('changes with a row', async () => {
    const items = `${origin.url}/ogc/v1/collections/public.shown/items`
    const tag = async () => (await fetch(items, { headers: { apikey: origin.keys.anon } })).headers.get('etag')
    const before = await tag()
    await origin.db.database.query(`update public.shown set name = 'b'`)
    expect(await tag()).not.toBe(before)
  })
})

describe('a file that costs too much', () => {
  const icon = (content: string) => ({
    name: 'x',
    content: Buffer.from(content),
    mediaType: 'image/svg+xml',
    pixelRatio: 1,
  })
  const svg = (content: string) =>
    icon(`<svg xmlns="http://www.w3.org/2000/svg" width="512" height="512">${content}</svg>`)

  test('ends the process that draws, which draws the next one', async () => {
    using drawing = new DrawingProcess()
    const filters = '<feMorphology operator="dilate" radius="250"/>'.repeat(500)
    const bomb = svg(`<filter id="f">${filters}</filter><rect width="512" height="512" filter="url(#f)"/>`)
    // The bomb computes for more than ten seconds; the clock of its limit is moved until it is ended.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let isOver = false
    const costly = drawing
      .call('makeSheet', { icons: [bomb], ratio: 1 }, 'bomb')
      .catch((error: unknown) => error)
      .finally(() => (isOver = true))
    const next = drawing.call('makeSheet', { icons: [icon(RED)], ratio: 1 })
    const moveClock = () => {
      if (!isOver) vi.advanceTimersByTime(30_000)
      return isOver
    }
    await expect.poll(moveClock).toBe(true)
    expect(await costly).toMatchObject({ code: 'MAP_FILE_TOO_COSTLY', status: 400 })
    expect(await next).toMatchObject({ index: { x: { width: 20, height: 10 } } })
    await expect(drawing.call('makeSheet', { icons: [bomb], ratio: 1 }, 'bomb')).rejects.toMatchObject({
      code: 'MAP_FILE_TOO_COSTLY',
    })
  })

  test('is refused where entities of XML grow or name files', async () => {
    const entities = Array.from({ length: 9 }, (_, i) => `<!ENTITY a${i + 1} "${`&a${i};`.repeat(10)}">`).join('')
    for (const head of [`<!ENTITY a0 "aaaaaaaaaa">${entities}`, '<!ENTITY a9 SYSTEM "file:///etc/hostname">']) {
      const body = `<!DOCTYPE svg [${head}]><svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><text>&a9;</text></svg>`
      expect(await codeOf(put('/sprites/town/bomb', body))).toEqual([400, 'BAD_MAP_FILE'])
    }
  })

  test('is left out of glyphs where its outline is large or has too many lines', () => {
    const zigzag = Array.from({ length: 20_000 }, (_, i) => [i % 2 === 0 ? 0 : 200, i / 100]).flat()
    expect([drawField([zigzag]), drawField([[0, 0, 300, 0, 300, 20, 0, 0]]), drawField([])]).toEqual([null, null, null])
  })
})

test('a glyph is the distance to its outline, by brute force', () => {
  // A frame: the inner ring turns the other way.
  const rings = [
    [1, 2, 15, 2, 15, 20, 1, 20, 1, 2],
    [5, 6, 5, 14, 11, 14, 11, 6, 5, 6],
  ]
  const { width, height, left, top, field } = drawField(rings)!
  expect({ width, height, left, top }).toEqual({ width: 14, height: 18, left: 1, top: 20 })
  const toSides = (x: number, y: number, [x1, y1, x2, y2]: readonly [number, number, number, number]) =>
    x > x1 && x < x2 && y > y1 && y < y2
      ? Math.min(x - x1, x2 - x, y - y1, y2 - y)
      : -Math.hypot(Math.max(x1 - x, 0, x - x2), Math.max(y1 - y, 0, y - y2))
  const expected = Array.from({ length: (width + 6) * (height + 6) }, (_, i) => {
    const x = left - 3 + (i % (width + 6)) + 0.5
    const y = top + 3 - Math.floor(i / (width + 6)) - 0.5
    const inside = Math.min(toSides(x, y, [1, 2, 15, 20]), -toSides(x, y, [5, 6, 11, 14]))
    return Math.min(255, Math.max(0, Math.ceil(192 + 32 * inside) - 1))
  })
  expect([...field]).toEqual(expected)
})
