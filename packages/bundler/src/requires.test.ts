import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { namedModules } from './requires.ts'

let root: string
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'terrane-requires-')))
  await mkdir(join(root, 'node_modules/web'), { recursive: true })
  await writeFile(join(root, 'node_modules/web/package.json'), JSON.stringify({ name: 'web', main: 'index.js' }))
  await writeFile(join(root, 'users.js'), `module.exports = 'users'`)
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function namedBy(code: string, file = 'index.js'): Promise<string[]> {
  await writeFile(join(root, file), code)
  return namedModules(root, [join(root, file)])
}

test('what is only imported is no name that a computed require may mean', async () => {
  expect(await namedBy(`const web = require("web"); const users = require('./users'); import('web')`)).toEqual([])
  expect(await namedBy(`import web from 'web'; export * from 'web'; export { a } from './users'`)).toEqual([])
})

test('texts of code are names, also beside types and JSX; those of comments and longer texts are none', async () => {
  const called = `const name = 'web'; const load = (path) => require(path); load('./users')`
  expect(await namedBy(called)).toEqual(['web', './users.js'])
  expect(await namedBy(`const view: string = \`web\`; const page = <Page of="./users" />`, 'index.tsx')).toEqual([
    'web',
    './users.js',
  ])
  expect(await namedBy(`// app.set('view engine', 'web')\nconst text = "it's a 'web' of './users'"`)).toEqual([])
})

test('imports of types are no names, and texts of JSON are', async () => {
  const types = `type A = import('web').A; let b: typeof import('web'); import web = require('web')`
  expect(await namedBy(types, 'index.ts')).toEqual([])
  expect(await namedBy(`{ "view engine": "web", "users": "./users" }`, 'config.json')).toEqual(['web', './users.js'])
})

test('the names of a source of megabytes are found without its syntax tree', async () => {
  const rows = 'rows.push({ a: [1, 2, 3], b: (x) => x + 1 })\n'.repeat(60_000)
  const before = process.memoryUsage().heapUsed
  expect(await namedBy(`const rows = []\n${rows}app.set('view engine', 'web')`)).toEqual(['web'])
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100e6)
})
