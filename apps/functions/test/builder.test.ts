import { chmod, mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { BuildCache } from '../src/build/build-cache.ts'
import { writeBuildProgram } from '../src/build/build-program.ts'
import { Builder } from '../src/build/builder.ts'
import { DenoImports } from '@terrane/bundler'
import { STATE_DIR } from './support/runtimes.ts'

const program = await writeBuildProgram(STATE_DIR)
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-builder-'))
})
afterEach(() => rm(folder, { recursive: true }))

const upload = (source: string) => new Map([['index.ts', new TextEncoder().encode(source)]])
const HOSTILE = `const a=${'['.repeat(1_000_000)}`

test('a project that fills the line does not hold the others: they have their turn in between', async () => {
  using builder = new Builder({ program, parallel: 2, cache: null })
  const ended: string[] = []
  const build = (project: string, label: string, source: string) =>
    builder.bundleFiles(project, upload(source)).then(
      () => ended.push(label),
      () => ended.push(label),
    )
  const all = [1, 2, 3, 4].map((i) => build('greedy', `greedy ${i}`, HOSTILE))
  all.push(build('modest', 'modest', 'export default 1'))
  await Promise.all(all)
  expect(ended.indexOf('modest')).toBeLessThan(2)
})

test('a folder with a waiting call is built before the others; a host that stops gives up waiting builds', async () => {
  const home = (name: string) => join(folder, name)
  const names = ['first', 'second', 'third', 'wanted', 'wanted later']
  for (const name of names) {
    await mkdir(home(name))
    await writeFile(join(home(name), 'index.ts'), 'export default 1')
  }
  using builder = new Builder({ program, parallel: 1, cache: null })
  const ended: string[] = []
  builder.hurry('p', home('wanted later'))
  const all = names.map((name) => builder.bundleFolder('p', home(name)).then(() => ended.push(name)))
  await Promise.all(all.slice(0, 1))
  builder.hurry('p', home('wanted'))
  await Promise.all(all)
  expect(ended.slice(0, 3).toSorted()).toEqual(['first', 'wanted', 'wanted later'])
  const given = names.map((name) => builder.bundleFolder('p', home(name)))
  await given[0]
  builder.abandon('p')
  const outcomes = await Promise.allSettled(given)
  // The second was on its way.
  expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, false, false])
})

test('a build that takes too long is ended, and says by which bound', async () => {
  using builder = new Builder({ program, parallel: 1, cache: null, uploadMs: 1 })
  await expect(builder.bundleFiles('p', upload(HOSTILE))).rejects.toMatchObject({
    code: 'FUNCTION_BUILD_LIMIT',
    kind: 'invalid',
    message: 'The function cannot be bundled within 0.001 seconds',
  })
})

test('a folder is bundled once for what is in it, and again for anything that could change it', async () => {
  const home = join(folder, 'fn')
  await mkdir(home)
  await writeFile(join(home, 'index.ts'), `import { x } from './x'; export default () => new Response(x)`)
  await writeFile(join(home, 'x.js'), `export const x = 'js'`)
  const cache = new BuildCache(join(folder, 'cache'))
  using builder = new Builder({ program, parallel: 1, cache })
  const still = async () => true
  const bundle = await builder.bundleFolder('p', home)
  await builder.keepFolder(home, bundle, async () => false)
  expect(await cache.findFolder(home)).toBeNull()
  await builder.keepFolder(home, bundle, still)
  const known = await cache.findFolder(home)
  expect(Buffer.from(known!.code).equals(bundle.code)).toBe(true)
  expect(known!.inputs).toEqual(expect.arrayContaining(bundle.inputs as string[]))
  for (const [path, text] of [
    ['x.js', `export const x = 'changed'`],
    ['x.ts', `export const x = 'found instead'`],
    ['deno.json', `{}`],
  ] as const) {
    await writeFile(join(home, path), text)
    expect(await cache.findFolder(home), path).toBeNull()
    await builder.keepFolder(home, await builder.bundleFolder('p', home), still)
    expect(await cache.findFolder(home), path).not.toBeNull()
  }
  expect(Buffer.from((await builder.bundleFolder('p', home)).code).toString()).toContain('found instead')
})

test('types are checked once nothing is built, after everything else; for a waiting caller, at once', async () => {
  const home = join(folder, 'fn')
  await mkdir(home)
  await writeFile(join(home, 'index.ts'), 'export default 1')
  const deno = join(folder, 'deno')
  await writeFile(deno, '#!/bin/sh\necho "error: $(nice)" >&2; exit 1')
  await chmod(deno, 0o755)
  const imports = new DenoImports({ deno, home: join(folder, 'imports'), hosts: [], env: { PATH: '/usr/bin:/bin' } })
  using builder = new Builder({ program, parallel: 1, cache: null, imports })
  const ended: string[] = []
  const builds = [1, 2, 3].map(() => builder.bundleFolder('p', home))
  const bundle = builds[0]!.then((first) => builder.typesOf(home, first)).then((found) => ended.push(found!.unchecked!))
  await Promise.all(builds.map((build, i) => build.then(() => ended.push(`build ${i + 1}`))))
  await bundle
  expect(ended).toEqual(['build 1', 'build 2', 'build 3', '19'])
  expect(await imports.types(home)).toEqual({ errors: [], unchecked: String(getPriority()) })
})
