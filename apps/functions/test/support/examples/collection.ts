import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ENTRIES } from '@terrane/bundler'
import { FUNCTION_NAME } from '../../../src/policy.ts'
import type { Repositories } from './repositories.ts'

const run = promisify(execFile)

/** Functions that one host serves from one folder. */
export interface Root {
  readonly source: (typeof SOURCES)[number]
  readonly folder: string
  readonly names: readonly string[]
}

const EDGE = { name: 'supabase/edge-runtime', ref: 'b1edf453' }
const EXPRESS = { name: 'expressjs/express', ref: 'a3714473' }
const OAK = { name: 'oakserver/oak', ref: 'v17.2.0' }
const HONO = { name: 'honojs/examples', ref: '50da66a' }

/** Where the examples come from. */
export const SOURCES = [
  'Express',
  'Hono',
  'oak',
  'edge-runtime k6',
  'edge-runtime examples',
  'edge-runtime test cases',
] as const

/** The required repositories, and the content of the mirror. */
export const NEEDED = [
  ...[EDGE, EXPRESS, OAK, HONO].map(({ name }) => name),
  'denoland/std',
  'oakserver/commons',
  'panva/jose',
  'denodrivers/postgres',
  'denodrivers/redis',
  'grammyjs/grammY',
  'pillarjs/path-to-regexp',
  'kitsonk/xhr',
  'ascorbic/og-edge',
] as const

/** Copies all examples into functions folders. Their files are not changed; packages are installed beside them. */
export async function collect(repositories: Repositories, into: string): Promise<Root[]> {
  const place = (name: string) => join(into, name)
  await repositories.checkOut(
    EDGE.name,
    EDGE.ref,
    ['crates/base/test_cases', 'examples', 'k6/functions'],
    place('edge'),
  )
  await repositories.checkOut(EXPRESS.name, EXPRESS.ref, [], place('express'))
  await repositories.checkOut(OAK.name, OAK.ref, [], place('oak'))
  await repositories.checkOut(HONO.name, HONO.ref, [], place('hono'))
  // Express' examples import Express' development dependencies, as `../../` and by name.
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: place('express') })
  await singleFiles(place('edge/k6/functions'), place('k6'))
  await singleFiles(place('oak/examples'), place('oak'))
  // The function is the content of `src`.
  for (const name of await readdir(place('hono'))) {
    const source = join(place('hono'), name, 'src')
    if ((await entryIn(source)) !== null)
      await cp(join(place('hono'), name), join(place('hono-functions'), name), { recursive: true })
    if ((await entryIn(source)) !== null) await cp(source, join(place('hono-functions'), name), { recursive: true })
  }
  const roots = [
    ...(await rootsIn('edge-runtime test cases', place('edge/crates/base/test_cases'))),
    ...(await rootsIn('edge-runtime examples', place('edge/examples'))),
    ...(await rootsIn('edge-runtime k6', place('k6'))),
    ...(await rootsIn('Express', place('express/examples'))),
    ...(await rootsIn('oak', place('oak'), 1)),
    ...(await rootsIn('Hono', place('hono-functions'), 1)),
  ]
  for (const { folder, names } of roots) for (const name of names) await writePolicy(join(folder, name))
  return roots
}

/** Files that are a function each, as folders. */
async function singleFiles(from: string, into: string): Promise<void> {
  for (const file of await readdir(from)) {
    const name = /^([\w-]+)\.ts$/.exec(file)?.[1]
    if (name === undefined) continue
    await mkdir(join(into, name), { recursive: true })
    await writeFile(join(into, name, 'index.ts'), await readFile(join(from, file)))
  }
}

/** Folders whose sub-folders are functions. */
async function rootsIn(source: Root['source'], folder: string, depth = 4): Promise<Root[]> {
  const names: string[] = []
  const deeper: Root[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory() || /^[_.]|^node_modules$/.test(entry.name)) continue
    const name = entry.name.toLowerCase()
    if ((await entryIn(join(folder, entry.name))) === null) {
      if (depth > 1) deeper.push(...(await rootsIn(source, join(folder, entry.name), depth - 1)))
    } else if (FUNCTION_NAME.test(name)) {
      if (name !== entry.name) await rename(join(folder, entry.name), join(folder, name))
      names.push(name)
    }
  }
  return [...(names.length > 0 ? [{ source, folder, names: names.toSorted() }] : []), ...deeper]
}

async function entryIn(folder: string): Promise<string | null> {
  const names = new Set(await readdir(folder).catch(() => []))
  return ENTRIES.find((name) => names.has(name)) ?? null
}

/** Anyone may call it, it may reach any test server, and it may read the files beside it that are not sources. */
async function writePolicy(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true })
  const data = entries.filter(
    ({ name }) => !/^[._]|^node_modules$|\.(?:[cm]?[jt]sx?)$|^(?:deno|package)|^function\.json$/.test(name),
  )
  const policy = {
    auth: 'none',
    methods: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'],
    static: data.map(({ name }) => name),
  }
  await writeFile(join(folder, 'function.json'), JSON.stringify(policy))
}

/** A name that is unique among the examples of all sources. */
export function labelOf({ source, folder }: Root, name: string): string {
  const nested = ['test_cases', 'examples', 'k6', 'oak', 'hono-functions'].includes(basename(folder))
  return nested ? `${source}: ${name}` : `${source}: ${basename(dirname(join(folder, name)))}/${name}`
}
