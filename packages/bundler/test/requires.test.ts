import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bundleFolder } from '../src/index.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-requires-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** The default export of the bundle of these files. */
async function built(files: Readonly<Record<string, string>>): Promise<unknown> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const { code } = await bundleFolder(folder, null)
  const file = join(folder, 'built.mjs')
  await writeFile(file, code)
  return ((await import(file)) as { default: unknown }).default
}

const PACKAGE = (code: string) => ({
  'node_modules/old/package.json': '{"name":"old","version":"1.0.0","main":"index.js"}',
  'node_modules/old/index.js': code,
})

test('a source may have a name that other bundlers give to createRequire, beside a package that requires', async () => {
  const source = `import { createRequire as __createRequire } from 'node:module'
    import old from 'old'
    export default [old, typeof __createRequire]`
  expect(await built({ 'index.ts': source, ...PACKAGE(`module.exports = require('path').sep`) })).toEqual([
    '/',
    'function',
  ])
})
