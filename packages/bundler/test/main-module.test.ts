import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bundleFiles, bundleFolder } from '../src/bundle.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-main-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

/** The default export of the bundle. */
async function run(code: Uint8Array): Promise<unknown> {
  const file = join(folder, `${crypto.randomUUID()}.mjs`)
  await writeFile(file, code)
  return ((await import(file)) as { default: unknown }).default
}

const OTHER = `export const other = [import.meta.main, !import.meta.main]`
const ENTRY = `import { other } from './other.ts'
let ran = 'not run'
if (import.meta.main) ran = 'run'
export default [ran, import.meta.main === true, other]`
const EXPECTED = ['run', true, [false, true]]

test.each(['index.ts', 'index.tsx', 'index.js', 'index.mjs'])(
  'the entry %s is the main module, and no other is',
  async (name) => {
    await write({
      [`fn/${name}`]: `import 'tool'\n${ENTRY}`,
      'fn/other.ts': OTHER,
      'node_modules/tool/package.json': '{"name":"tool","version":"1.0.0","type":"module","main":"index.js"}',
      'node_modules/tool/index.js': `if (import.meta.main) throw new Error('a program'); export default 'tool'`,
    })
    const { code } = await bundleFolder(join(folder, 'fn'), null)
    expect(await run(code)).toEqual(EXPECTED)
    // `terrane functions deploy` uploads the bundle, which is bundled once more as an entry.
    const again = await bundleFiles(new Map([['index.mjs', code]]))
    expect(await run(again.code)).toEqual(EXPECTED)
  },
)

test('so it is in an upload, and where files beside the code are looked for', async () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const { code } = await bundleFiles(
    new Map([
      ['index.ts', bytes(ENTRY)],
      ['other.ts', bytes(OTHER)],
    ]),
  )
  expect(await run(code)).toEqual(EXPECTED)
  await write({
    'fn/index.ts': `${ENTRY}\nexport const data = new URL('data.txt', import.meta.url)`,
    'fn/other.ts': OTHER,
    'fn/data.txt': 'data',
  })
  const beside = await bundleFolder(join(folder, 'fn'), null)
  expect(beside.files.size).toBe(1)
  expect(await run(beside.code)).toEqual(EXPECTED)
})
