import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ENTRIES, readProjectRules } from '@terrane/bundler'
import { FUNCTION_NAME } from '../../../src/policy.ts'
import type { Repositories } from './repositories.ts'

/** A Supabase project in a repository, checked out unchanged. */
export interface SupabaseProject {
  readonly repository: string
  /** The folder that `TERRANE_FUNCTIONS_DIR` names. */
  readonly folder: string
  readonly names: readonly string[]
}

/** Number of functions, and of Workers, that are judged for each repository; the digests of their names choose them. */
const MOST = 25
const MOST_WORKERS = 60
/** Number of files above which a repository is not checked out whole. */
const LARGE = 1500

/** Checks out the Supabase projects of a repository. */
export async function projectsOf(repositories: Repositories, name: string, into: string): Promise<SupabaseProject[]> {
  const paths = await repositories.list(name, 'HEAD')
  const homes = new Set<string>()
  for (const path of paths) {
    const [, home, file = ''] = /^((?:.+\/)?supabase)\/functions\/[^_./][^/]*\/([^/]+)$/.exec(path) ?? []
    if (home !== undefined && ENTRIES.some((entry) => entry === file)) homes.add(home)
  }
  const projects: SupabaseProject[] = []
  for (const home of homes) {
    const place = join(into, name.replace('/', '+'))
    await repositories.checkOut(name, 'HEAD', [`${home}/functions`, `${home}/config.toml`], place)
    // Files that are imported from elsewhere in the repository, and settings above the folder.
    const sources = paths.filter(
      (path) => /\.(?:[cm]?[jt]sx?|json)$/.test(path) && !path.startsWith(`${home}/functions/`),
    )
    const beside = sources.filter((path) => path.startsWith(`${home}/`))
    const around = [...beside, ...(sources.length < 400 ? sources : [])]
    if (around.length > 0) await repositories.checkOut(name, 'HEAD', around, place)
    const folder = join(place, home)
    projects.push({ repository: name, folder, names: await keepSome(join(folder, 'functions')) })
  }
  return projects
}

/**
 * Checks out Workers of a repository, one project for each folder that has some: those with an entry of their own, whose
 * paths have the lowest digests. Of a large repository only the files at its root lie beside them.
 */
export async function workersOf(repositories: Repositories, name: string, into: string): Promise<SupabaseProject[]> {
  const paths = await repositories.list(name, 'HEAD')
  const configured = paths
    .filter((path) => /(?:^|\/)wrangler\.(?:jsonc?|toml)$/.test(path))
    .map((path) => dirname(path))
  const slug = name.replaceAll(/[^\w-]/g, '-')
  const place = join(into, 'workers', slug, slug)
  const isLarge = paths.length > LARGE
  await repositories.checkOut(name, 'HEAD', isLarge ? paths.filter((path) => !path.includes('/')) : [], place)
  const roots = new Map<string, string[]>()
  let count = 0
  for (const home of [...new Set(configured)].toSorted((a, b) => (digestOf(a) < digestOf(b) ? -1 : 1))) {
    if (count === MOST_WORKERS) break
    if (isLarge) await repositories.checkOut(name, 'HEAD', [home], place)
    const folder = join(place, home)
    const rules = rulesOf(folder)
    const entry = rules?.entrypoint ?? null
    const isJudged = rules === undefined || (entry !== null && existsSync(entry))
    if (!isJudged || !FUNCTION_NAME.test(basename(folder))) continue
    roots.set(dirname(folder), [...(roots.get(dirname(folder)) ?? []), basename(folder)])
    count++
  }
  return [...roots].map(([folder, names]) => ({ repository: name, folder, names }))
}

/** The rules of a function; undefined where its configuration cannot be read. */
export function rulesOf(folder: string): ReturnType<typeof readProjectRules> | undefined {
  try {
    return readProjectRules(folder)
  } catch {
    return undefined
  }
}

/** Takes away the functions beyond {@link MOST} that no other one imports. */
async function keepSome(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isDirectory() && !/^[_.]/.test(entry.name))
    .map((entry) => entry.name)
    .filter((name) => ENTRIES.some((entry) => existsSync(join(root, name, entry))))
    .toSorted((a, b) => (digestOf(a) < digestOf(b) ? -1 : 1))
  const sources = await sourcesOf(root)
  const isImported = (name: string) => sources.some((text) => text.includes(`../${name}/`))
  for (const name of names.slice(MOST)) if (!isImported(name)) await rm(join(root, name), { recursive: true })
  // Digests of files from the real hosts differ from those of the mirror.
  for (const place of [root, ...names.slice(0, MOST).map((name) => join(root, name))])
    await rm(join(place, 'deno.lock'), { force: true })
  return names.slice(0, MOST)
}

async function sourcesOf(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true, recursive: true })
  const files = entries.filter(
    (entry) => entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name) && !entry.parentPath.includes('node_modules'),
  )
  return Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')))
}

function digestOf(name: string): string {
  return createHash('sha256').update(name).digest('hex')
}

/** Gives every variable that the sources name a value, as who moves a project does; those of the platform it sets itself. */
export async function writeSecrets(root: string): Promise<readonly string[]> {
  const names = new Set<string>()
  for (const text of await sourcesOf(root))
    for (const [, name] of text.matchAll(/(?:env\.get\(\s*|env\[|process\.env\.)['"]?([A-Z][A-Z0-9_]*)/g))
      names.add(name!)
  const wanted = [...names].filter((name) => !/^(?:SUPABASE_|TERRANE_|DENO_)/.test(name)).toSorted()
  await writeFile(join(root, '.env'), wanted.map((name) => `${name}=${valueFor(name)}\n`).join(''))
  return wanted
}

function valueFor(name: string): string {
  return /URL|ENDPOINT|HOST/.test(name) ? 'https://outside.test' : 'sk_test_0123456789abcdef0123456789abcdef'
}
