import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { imageOf, writeGeoTiff, type GeoTiffOptions } from '@terrane/testing/geotiff'
import { chromium, type Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installPackages, installTools, readmeBlocks, run } from './support/stranger.ts'

// The raster reader on a page, from a tarball: the README's example gives the same result in Chromium as in Node.

const CHROMIUM = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
)
const tools = CHROMIUM === undefined ? null : installTools()
const folder = tools === null ? null : installPackages()
if (folder === null) console.warn('SKIPPED: the raster reader on a page; Chromium or the npm registry is missing')

const FILES: Readonly<Record<string, GeoTiffOptions>> = {
  'none.tif': { type: 'uint8', compression: 'none' },
  'lzw.tif': { type: 'uint16', compression: 'lzw', predictor: 2 },
  'deflate.tif': { type: 'float32', compression: 'deflate', predictor: 3 },
  'big-endian.tif': { type: 'int16', compression: 'deflate', littleEndian: false },
  'zstd.tif': { type: 'uint16', compression: 'zstd' },
  'packbits.tif': { type: 'uint8', compression: 'packbits' },
  'jpeg.tif': { type: 'uint8', compression: 'jpeg', tileSize: 64 },
  'lerc.tif': { type: 'float32', compression: 'lerc', tileSize: 64 },
  'webp.tif': { type: 'uint8', compression: 'webp', tileSize: 64 },
}
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.tif': 'image/tiff' }

describe.skipIf(folder === null)('the raster reader on a page', () => {
  const home = folder ?? ''
  let server: Server
  let browser: Browser
  beforeAll(async () => {
    writeFileSync(join(home, 'example.ts'), readmeBlocks('tiling')[2]!)
    await run(join(tools ?? '', 'esbuild'), ['example.ts', '--outfile=example.js', '--format=esm'], home)
    const georeference = { affine: [500_000, 10, 0, 5_000_000, 0, -10], epsg: 32_632 } as const
    for (const [name, options] of Object.entries(FILES)) {
      const bands = options.compression === 'webp' ? 3 : 1
      const image = imageOf({ width: 200, height: 130, bands }, (x, y) => (x * 7 + y * y) % 251)
      writeFileSync(join(home, name), await writeGeoTiff(image, { ...options, georeference }))
    }
    server = createServer((request, response) => {
      const path = join(home, new URL(request.url ?? '/', 'http://page').pathname)
      if (!existsSync(path)) return void response.writeHead(404).end()
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' })
      response.end(readFileSync(path))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser.close()
    server.close()
    rmSync(home, { recursive: true, force: true })
  })

  /** The means of all files, or the error, computed by Chromium on the page. */
  async function seen(html: string): Promise<Record<string, number[] | string>> {
    writeFileSync(join(home, 'index.html'), `<!doctype html>${html}`)
    const page = await browser.newPage()
    const trouble: string[] = []
    page.on('pageerror', (error) => trouble.push(error.message))
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/index.html`)
    await expect
      .poll(async () => trouble.length > 0 || (await page.evaluate('globalThis.means !== undefined')), {
        timeout: 60_000,
      })
      .toBe(true)
    expect(trouble).toEqual([])
    return await page.evaluate('globalThis.means')
  }

  const program = (example: string): string => `import { tileMeans } from '${example}'
const means = {}
for (const name of ${JSON.stringify(Object.keys(FILES))}) {
  const bytes = new Uint8Array(await (await fetch('/' + name)).arrayBuffer())
  means[name] = await tileMeans(bytes).catch((error) => error.code)
}
globalThis.means = means
`

  test.each(['as it lies', 'bundled by esbuild', 'bundled by vite'])('gives what it gives in Node, %s', async (how) => {
    const expected: Record<string, number[] | string> = {}
    const { tileMeans } = (await import(join(home, 'example.js'))) as {
      tileMeans: (bytes: Uint8Array) => Promise<number[]>
    }
    for (const name of Object.keys(FILES)) {
      expected[name] =
        name === 'webp.tif' ? 'CORRUPT_TILE' : await tileMeans(new Uint8Array(readFileSync(join(home, name))))
    }
    writeFileSync(join(home, 'main.js'), program('./example.js'))
    if (how === 'as it lies') {
      const map = { imports: { '@terrane/tiling/browser': '/node_modules/@terrane/tiling/dist/raster/browser.js' } }
      const html = `<script type="importmap">${JSON.stringify(map)}</script><script type="module" src="/main.js"></script>`
      expect(await seen(html)).toEqual(expected)
      return
    }
    if (how === 'bundled by esbuild') {
      const flags = ['--bundle', '--format=esm', '--splitting', '--outdir=bundled', '--minify']
      await run(join(tools ?? '', 'esbuild'), ['main.js', ...flags], home)
      expect(await seen('<script type="module" src="/bundled/main.js"></script>')).toEqual(expected)
      return
    }
    writeFileSync(join(home, 'vite.config.mjs'), VITE)
    await run(join(tools ?? '', 'vite'), ['build'], home)
    const entry = readdirSync(join(home, 'vited')).find((name) => /^main.*\.js$/.test(name))!
    expect(await seen(`<script type="module" src="/vited/${entry}"></script>`)).toEqual(expected)
  })
})

const VITE = `export default {
  logLevel: 'warn', base: '/vited/',
  build: { outDir: 'vited', assetsDir: '.', target: 'es2022', rollupOptions: { input: { main: 'main.js' } } },
}
`
