import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FINGERPRINT_FILE, PAGE_PACKAGES, pageFingerprint } from '../src/page/fingerprint.ts'

const CONSOLE = join(import.meta.dirname, '..')
/** The goal of the first load, without the map engine and the font. */
const FIRST_LOAD_BYTES = 60 * 1024
const FONT_BYTES = 60 * 1024

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-built-page-'))
  const vite = join(CONSOLE, 'node_modules', 'vite', 'bin', 'vite.js')
  await promisify(execFile)(
    process.execPath,
    [vite, 'build', '--logLevel', 'error', '--outDir', folder, '--emptyOutDir'],
    {
      cwd: CONSOLE,
    },
  )
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the built page', () => {
  test('first loads at most 60 KB gzip and a font, and no map engine', async () => {
    const html = await readFile(join(folder, 'index.html'), 'utf8')
    const linked = [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, path = '']) => path)
    expect(linked.some((path) => path.endsWith('.js') && path.startsWith('assets/'))).toBe(true)
    let bytes = gzipSync(html).length
    for (const path of linked) {
      const content = await readFile(join(folder, path))
      if (path.endsWith('.js')) expect(content.includes('maplibregl-canvas')).toBe(false)
      bytes += gzipSync(content, { level: 9 }).length
    }
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES)
    const [font = ''] = await latinFont()
    expect((await readFile(join(folder, font))).length).toBeLessThan(FONT_BYTES)
  })

  test('needs nothing but files of its own origin: no inline script or style, no other host', async () => {
    const html = await readFile(join(folder, 'index.html'), 'utf8')
    expect(html).not.toMatch(/<script(?![^>]*src=)/)
    expect(html).not.toMatch(/<style|style="|https?:\/\//)
    const sheets = (await readdir(join(folder, 'assets'))).filter((name) => name.endsWith('.css'))
    for (const sheet of sheets) {
      const css = await readFile(join(folder, 'assets', sheet), 'utf8')
      expect(css).not.toMatch(/url\(\s*['"]?https?:|@import/)
    }
  })

  test('sets the paper of printed maps only', async () => {
    const names = (await readdir(join(folder, 'assets'))).filter((name) => name.endsWith('.css'))
    const sheets = await Promise.all(names.map((name) => readFile(join(folder, 'assets', name), 'utf8')))
    const rules = sheets.flatMap((sheet) => [...sheet.matchAll(/@page([^{]*)\{/g)].map(([, name = '']) => name.trim()))
    expect(rules).toEqual(['map'])
    expect(sheets.join()).toMatch(/\.printing body\s*\{\s*page:\s*map/)
  })

  test('says what it was built from, so that an old one is built anew', async () => {
    const written = await readFile(join(folder, FINGERPRINT_FILE), 'utf8')
    expect(written).toBe(await pageFingerprint(CONSOLE))
    // The console names its folder with a slash at the end; another fingerprint would make it build the page at each
    // start.
    expect(written).toBe(await pageFingerprint(`${CONSOLE}/`))
  })

  test('is built anew after a change in a package that it uses', async () => {
    const web = join(CONSOLE, 'web')
    const names = await readdir(web, { recursive: true })
    const sources = await Promise.all(
      names.filter((name) => /\.tsx?$/.test(name)).map((name) => readFile(join(web, name), 'utf8')),
    )
    const used = sources.flatMap((text) =>
      [...text.matchAll(/from '@terrane\/([a-z-]+)/g)].map(([, name = '']) => name),
    )
    expect([...new Set(used)].toSorted()).toEqual(PAGE_PACKAGES)
    const copy = await mkdtemp(join(tmpdir(), 'terrane-page-sources-'))
    try {
      await makeSources(copy)
      const before = await pageFingerprint(join(copy, 'apps', 'console'))
      for (const name of PAGE_PACKAGES) {
        await writeFile(join(copy, 'packages', name, 'src', 'index.ts'), 'export const changed = true\n')
        const after = await pageFingerprint(join(copy, 'apps', 'console'))
        expect([name, after]).not.toEqual([name, before])
        await makeSources(copy)
      }
      expect(await pageFingerprint(join(copy, 'apps', 'console'))).toBe(before)
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  })

  /** Sources of a page in a folder, each file with nothing in it. */
  async function makeSources(root: string): Promise<void> {
    const files = ['web/index.html', 'vite.config.ts', 'world.ts', 'package.json'].map((name) => `apps/console/${name}`)
    const packages = PAGE_PACKAGES.flatMap((name) => [`packages/${name}/package.json`, `packages/${name}/src/index.ts`])
    for (const file of [...files, ...packages]) {
      await mkdir(dirname(join(root, file)), { recursive: true })
      await writeFile(join(root, file), '')
    }
  }

  async function latinFont(): Promise<string[]> {
    const names = await readdir(join(folder, 'assets'))
    return names.filter((name) => name.startsWith('inter-latin-wght')).map((name) => `assets/${name}`)
  }
})
