import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBasemap } from '../src/page/basemap.ts'
import { openConsole } from './harness.ts'

const withBasemap = (basemap: string) => ({ TERRANE_SETTINGS: JSON.stringify({ console: { basemap } }) })

let folder: string
let archive: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-basemap-'))
  archive = join(folder, 'world.pmtiles')
  await writeFile(archive, 'PMTiles, as far as this test goes')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const connect = (policy: string | null) => /connect-src ([^;]*)/.exec(policy ?? '')?.[1]

describe('the basemap that the operator sets', () => {
  test('is a template of tiles, an archive elsewhere, or a file; without one there is none', async () => {
    expect(await readBasemap(undefined)).toMatchObject({ kind: 'none', origin: null })
    expect(await readBasemap('https://tiles.example.org/{z}/{x}/{y}.png', '© us')).toMatchObject({
      kind: 'raster',
      origin: 'https://tiles.example.org',
      attribution: '© us',
    })
    expect(await readBasemap('https://example.org:8443/a/world.pmtiles?v=2')).toMatchObject({
      kind: 'pmtiles',
      origin: 'https://example.org:8443',
    })
    expect(await readBasemap(archive)).toMatchObject({ kind: 'pmtiles', origin: null, file: archive })
  })
  test.each([
    'https://example.org/map.png',
    'https://example.org/{z}/{x}.png',
    'world.pmtiles',
    '/nowhere/at/all.pmtiles',
    'http://',
  ])('%s is refused, with what would do', async (setting) => {
    await expect(readBasemap(setting)).rejects.toMatchObject({
      code: 'BASEMAP_INVALID',
      hint: expect.stringContaining('PMTiles'),
    })
  })
  test('is told to who is signed in, a file by ranges, and the policy names its server and no other', async () => {
    await using console = await openConsole(withBasemap(archive))
    expect((await fetch(`${console.url}/api/basemap`)).status).toBe(401)
    expect((await fetch(`${console.url}/api/basemap.pmtiles`)).status).toBe(401)
    const browser = await console.signIn()
    expect(await (await browser.ask('GET', '/api/basemap')).json()).toEqual({
      kind: 'pmtiles',
      url: '/api/basemap.pmtiles',
      attribution: '',
    })
    const part = await browser.ask('GET', '/api/basemap.pmtiles', undefined, { range: 'bytes=0-6' })
    expect(part.status).toBe(206)
    expect(await part.text()).toBe('PMTiles')
    expect(connect((await fetch(console.url)).headers.get('content-security-policy'))).toBe(`'self'`)

    await using other = await openConsole(withBasemap('https://tiles.example.org/{z}/{x}/{y}.png'))
    expect(connect((await fetch(other.url)).headers.get('content-security-policy'))).toBe(
      `'self' https://tiles.example.org`,
    )
  })
})
