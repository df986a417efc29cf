import type { CreateGeoEmbeddings } from '@terrane/contracts'
import type { GuardedFetch } from '@terrane/service'
import { describe, expect, test } from 'vitest'
import type { Project } from '../../task.ts'
import { checkResampling, filesOf, sourceOf, type SceneSource } from '../source.ts'
import { sceneVersion } from '../source-file.ts'
import { fileNear, type FileSource } from '@terrane/tiling/scene'
import { fetchItems } from './stac-pages.ts'
import { rastersOfStac } from './stac-sources.ts'

const URL_BASE: FileSource = { kind: 'url', url: 'https://h/a/s.vrt?sig=1' }
const STORED: FileSource = { kind: 'storage', bucket: 'b', path: 'a/s.vrt' }
const LOCAL: FileSource = { kind: 'path', path: 'a/s.vrt' }

describe('a file', () => {
  test.each([
    ['b#1.tif', URL_BASE, 'https://h/a/b%231.tif'],
    ['a?b.tif', URL_BASE, 'https://h/a/a%3Fb.tif'],
    ['../c/a b.tif', URL_BASE, 'https://h/c/a%20b.tif'],
    ['a%20b.tif', STORED, 'a/a%20b.tif'],
    ['T32:10.tif', LOCAL, 'a/T32:10.tif'],
    ['/etc/passwd', LOCAL, null],
    ['../../x.tif', STORED, null],
  ])('%s of a VRT is a name', (name, base, expected) => {
    expect(addressOf(fileNear(name, base, 'name'))).toBe(expected)
  })

  test.each([
    ['a%20b.tif?x=1', URL_BASE, 'https://h/a/a%20b.tif?x=1'],
    ['./a%20b.tif?x=1#y', STORED, 'a/a b.tif'],
    ['%2Fetc/passwd', LOCAL, null],
    ['%2e%2e/%2e%2e/x.tif', STORED, null],
    ['a%ZZ.tif', STORED, null],
    ['file:///etc/passwd', LOCAL, null],
    ['T32:10.tif', LOCAL, null],
  ])('%s of an item is an address', (name, base, expected) => {
    expect(addressOf(fileNear(name, base, 'address'))).toBe(expected)
  })
})

function addressOf(file: FileSource | null): string | null {
  return file && (file.kind === 'url' ? file.url : file.path)
}

describe('a mask', () => {
  const maskOf = (geotiffPath: string, more: object = {}) =>
    (sourceOf({ assets: [{ geotiffPath: 'B04.tif' }], mask: { geotiffPath, ...more } }) as SceneSource).mask

  test('of a known product leaves out clouds, shadows and no data', () => {
    expect(maskOf('https://h/T33UUP_SCL_20m.tif?sig=1')).toMatchObject({ values: [0, 1, 3, 8, 9, 10], bits: [] })
    expect(maskOf('x_SCL.tif', { maskValues: [6] })).toMatchObject({ values: [6], bits: [] })
  })

  test('of another name needs its values', () => {
    const problem = {
      code: 'SCENE_UNUSABLE',
      errors: [{ path: '/mask/maskValues', message: 'this or maskBits is needed' }],
    }
    expect(() => maskOf('clouds.tif')).toThrow(expect.objectContaining(problem) as Error)
    expect(maskOf('clouds.tif', { maskBits: [1] })).toMatchObject({ values: [], bits: [1] })
  })
})

test('resampling is refused where no raster has assets', () => {
  const body = (more: object): CreateGeoEmbeddings => ({ tableName: 't', resampling: 'nearest', ...more })
  expect(() => checkResampling(body({ geotiffPath: 'a.tif' }))).toThrow('resampling is only for assets')
  expect(() => checkResampling(body({ geotiffPath: 'a.tif', resampling: 'bilinear' }))).not.toThrow()
  expect(() =>
    checkResampling(body({ sources: [{ geotiffPath: 'a.tif' }, { assets: { B04: 'b.tif' } }] })),
  ).not.toThrow()
})

test('the version of a scene has each file once, and changes with the file of a band', () => {
  const scene = (...paths: string[]) =>
    sourceOf({ assets: paths.map((geotiffPath) => ({ geotiffPath })) }) as SceneSource
  expect(filesOf(scene('a.tif', 'a.tif', 'b.tif'))).toHaveLength(2)
  const version = (...paths: string[]) => sceneVersion(scene(...paths), ['x', 'y'])
  expect(version('a.tif', 'a.tif', 'b.tif')).not.toBe(version('a.tif', 'b.tif', 'b.tif'))
})

describe('STAC', () => {
  const band = (name: string, common: string, href: string): object => ({
    href,
    type: 'image/tiff',
    roles: ['data'],
    'eo:bands': [{ name, common_name: common }],
  })
  const item = (more: object = {}): Record<string, unknown> => ({
    type: 'Feature',
    id: 'x',
    collection: 'sentinel-2-l2a',
    properties: { platform: 'sentinel-2b', 's2:processing_baseline': '05.09' },
    assets: { red: band('B04', 'red', './measurement.tif'), nir: band('B08', 'nir', './B08_10m.tif') },
    links: [{ rel: 'self', href: 'https://h/cat/x.json' }],
    ...more,
  })
  const rasters = (stac: Parameters<typeof rastersOfStac>[0], text = '') => {
    const body = Buffer.from(text)
    const store = {
      head: () => Promise.resolve({ size: body.length }),
      get: () => Promise.resolve({ body: (async function* () { yield body })() }), // prettier-ignore
    } as unknown as Project['store']
    return rastersOfStac(stac, { project: { store }, dataRoots: [], remote: null, channels: ['red'] })
  }

  test('a single asset keeps the name of its band, unless its file has it', async () => {
    const [odd] = (await rasters({ items: item(), assets: ['red'] }))!
    expect(odd!.own.assets).toEqual([{ geotiffPath: 'https://h/cat/measurement.tif', band: 1, name: 'B04' }])
    const [plain] = (await rasters({ items: item(), assets: ['nir'] }))!
    expect(plain!.own).toMatchObject({ geotiffPath: 'https://h/cat/B08_10m.tif', profile: 'sentinel-2-l2a-offset' })
  })

  test('an item of the storage has its files beside it, whatever address it gives of itself', async () => {
    const stac = { storagePath: { bucket: 'b', path: 'a/x.json' }, assets: ['nir'] }
    const [found] = (await rasters(stac, JSON.stringify(item())))!
    expect(found!.own.storagePath).toEqual({ bucket: 'b', path: 'a/B08_10m.tif' })
  })

  test.each([
    ['2024-07-03T10:00:00', '2024-07-03T10:00:00Z'],
    ['2024-07-03T10:00:00+02:00', '2024-07-03T10:00:00+02:00'],
    ['2024-02-30T10:00:00Z', null],
    ['05/06/2024', null],
    [1_720_000_000, null],
  ])('a time without a zone is UTC, and one that there is not is refused: %s', async (datetime, wanted) => {
    const found = rasters({ items: item({ properties: { platform: 'sentinel-2b', datetime } }), assets: ['red'] })
    if (wanted === null) return expect(found).rejects.toMatchObject({ code: 'STAC_UNUSABLE' })
    return expect(found).resolves.toMatchObject([{ own: { datetime: wanted } }])
  })

  test('a search of a file is refused', async () => {
    const problem = { code: 'STAC_UNUSABLE', errors: [expect.objectContaining({ path: '/stac/search' })] }
    await expect(rasters({ url: 'x.json', search: {} })).rejects.toMatchObject(problem)
  })

  test('names of any length are kept in part', async () => {
    const long = 'i'.repeat(5000)
    const [found] = (await rasters({ items: item({ id: long, collection: `sentinel-2-${long}` }), assets: ['red'] }))!
    expect(JSON.stringify(found!.facts).length).toBeLessThan(1000)
    const assets = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${long}${i}`, {}]))
    await expect(rasters({ items: item({ assets }), assets: ['red'] })).rejects.toSatisfy(
      (error: Error) => error.message.length < 10_000,
    )
  })

  test('a page of very many items is read to the limit, and nothing else of it is kept', async () => {
    const features = Array.from({ length: 300_000 }, () => 0)
    const fetch: GuardedFetch = () =>
      Promise.resolve({
        url: 'https://h/search',
        body: [Buffer.from(JSON.stringify({ type: 'FeatureCollection', features }))],
      } as never)
    const signal = new AbortController().signal
    const read = (_: unknown, page: string, index: number): string => `${page} ${index}`
    const all = await fetchItems('https://h/search', {}, { fetch, signal, limit: 200_000, read })
    expect([all.length, all.at(-1)]).toEqual([200_000, 'https://h/search 199999'])
  })

  const answering =
    (page: (url: string) => string): GuardedFetch =>
    async (url) => ({
      url,
      status: 200,
      headers: {},
      body: (async function* () {
        yield Buffer.from(page(url))
      })(),
      cancel() {},
    })
  const options = { signal: new AbortController().signal, limit: 10, read: () => 0 }

  test.each([
    ['of millions of values', '[],'.repeat(2_000_000), /more than 1000000 values/],
    ['of deep brackets', `${'['.repeat(1000)}${']'.repeat(1000)},`, /nested more than/],
  ])('a page %s is refused before it becomes memory', async (_, features, message) => {
    const fetch = answering(() => `{"type":"FeatureCollection","features":[${features}{}]}`)
    await expect(fetchItems('https://h/a', null, { ...options, fetch })).rejects.toMatchObject({
      code: 'STAC_UNUSABLE',
      message: expect.stringMatching(message),
    })
  })

  test('a search whose pages take too long altogether ends', async () => {
    const fetch = answering((url) => JSON.stringify({ type: 'FeatureCollection', features: [], links: [{ rel: 'next', href: `${url}x` }] })) // prettier-ignore
    await expect(fetchItems('https://h/a', null, { ...options, fetch, allMs: 0 })).rejects.toMatchObject({
      code: 'STAC_UNUSABLE',
      message: expect.stringContaining('take more than'),
    })
  })

  test('a search whose requests become longer with each page ends', async () => {
    let page = 0
    const link = () => ({
      rel: 'next',
      href: '?',
      method: 'POST',
      merge: true,
      body: { [`k${page++}`]: 'x'.repeat(9000) },
    })
    const fetch = answering(() => JSON.stringify({ type: 'FeatureCollection', features: [], links: [link()] }))
    await expect(fetchItems('https://h/a', {}, { ...options, fetch })).rejects.toMatchObject({
      code: 'STAC_UNUSABLE',
      message: expect.stringContaining('longer and longer'),
    })
    expect(page).toBeLessThan(10)
  })
})
