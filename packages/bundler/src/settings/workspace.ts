import { glob, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { bundleFailed } from '../errors.ts'
import { readJsonFile, type JsonSettings } from './json-file.ts'
import type { Catalogs } from './package-json.ts'

/** Packages of the workspace around a folder, by name. */
export interface Workspace {
  /** Import map of its members: their names, and names with a subpath. */
  readonly imports: Readonly<Record<string, string>>
  /** The package.json or deno.json of each member, by name. */
  readonly members: ReadonlyMap<string, JsonSettings>
  readonly catalogs: Catalogs
  /** Its folder; null outside of a workspace. */
  readonly root: string | null
  /** Files that were read, absolute. */
  readonly files: readonly string[]
}

/** Export conditions of packages, in the bundler's order of preference. */
const CONDITIONS = ['deno', 'import', 'module', 'node', 'default', 'require']
const MAX_LEVELS = 12
const MAX_MEMBERS = 500

/**
 * Finds the workspace that contains a folder, or whose root it is: `workspace` of a deno.json, `workspaces` of a
 * package.json, or pnpm-workspace.yaml. Its members are found by name, whether or not a package manager has linked
 * them.
 */
export async function readWorkspace(folder: string): Promise<Workspace> {
  for (let at = folder, level = 0; level < MAX_LEVELS; at = dirname(at), level++) {
    const found = await patternsIn(at)
    if (found) return { ...(await membersOf(at, found)), catalogs: found.catalogs, root: at }
    if (at === dirname(at)) break
  }
  return { imports: {}, members: new Map(), catalogs: {}, root: null, files: [] }
}

interface Patterns {
  readonly file: string
  readonly patterns: readonly string[]
  readonly catalogs: Catalogs
}

async function patternsIn(folder: string): Promise<Patterns | null> {
  for (const name of ['deno.json', 'deno.jsonc']) {
    const given = (await readJsonFile(join(folder, name)))?.workspace as { members?: unknown } | undefined
    const patterns = strings(Array.isArray(given) ? given : given?.members)
    if (patterns) return { file: join(folder, name), patterns, catalogs: {} }
  }
  const root = await readJsonFile(join(folder, 'package.json'))
  const given = root?.workspaces as WorkspaceFile | undefined
  const patterns = strings(Array.isArray(given) ? given : given?.packages)
  // Bun reads catalogs at either place.
  const catalogs = { ...catalogsOf((root ?? {}) as WorkspaceFile), ...catalogsOf(given) }
  if (patterns) return { file: join(folder, 'package.json'), patterns, catalogs }
  const file = join(folder, 'pnpm-workspace.yaml')
  const yaml = await readFile(file, 'utf8').catch(() => null)
  if (yaml === null) return null
  try {
    // Loaded only here, because this package of CommonJS ends a bundle of ES modules that has no `require`.
    const { parse } = await import('yaml')
    const settings = (parse(yaml) ?? {}) as WorkspaceFile
    return { file, patterns: strings(settings.packages) ?? [], catalogs: catalogsOf(settings) }
  } catch (error) {
    throw bundleFailed({ problems: [`${file}: ${(error as Error).message}`] })
  }
}

/** Fields of pnpm-workspace.yaml, and of `workspaces` in the package.json of Bun, that are read. */
interface WorkspaceFile {
  readonly packages?: unknown
  readonly catalog?: Catalogs[string]
  readonly catalogs?: Catalogs
}

function catalogsOf(given: WorkspaceFile | undefined): Catalogs {
  return { ...given?.catalogs, ...(given?.catalog && { default: given.catalog }) }
}

async function membersOf(
  root: string,
  { file, patterns }: Patterns,
): Promise<Pick<Workspace, 'imports' | 'members' | 'files'>> {
  const imports: Record<string, string> = {}
  const files = [file]
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!')).map((pattern) => pattern.replace(/\/$/, ''))
  const unwanted = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1))
  const exclude = ['**/node_modules', ...unwanted]
  const members = new Map<string, JsonSettings>()
  let count = 0
  for await (const path of glob(wanted, { cwd: root, exclude })) {
    if (++count > MAX_MEMBERS) break
    const home = resolve(root, path)
    for (const name of ['deno.json', 'deno.jsonc', 'package.json']) {
      const config = await readJsonFile(join(home, name))
      if (typeof config?.name !== 'string') continue
      files.push(join(home, name))
      members.set(config.name, config)
      await addMember(imports, config.name, config, home)
      break
    }
  }
  return { imports, members, files }
}

async function addMember(
  imports: Record<string, string>,
  name: string,
  config: JsonSettings,
  home: string,
): Promise<void> {
  const { exports } = config
  const parts =
    exports !== null && typeof exports === 'object' && !Array.isArray(exports) ? Object.entries(exports) : []
  for (const [part, target] of parts.filter(([key]) => key.startsWith('.') && !key.includes('*'))) {
    const path = targetOf(target)
    if (path !== null) imports[name + part.slice(1)] = join(home, path)
  }
  if (imports[name] !== undefined) return
  const main = targetOf(exports) ?? [config.module, config.main].find((entry) => typeof entry === 'string')
  for (const path of [main, 'mod.ts', 'index.ts', 'src/index.ts', 'index.js']) {
    if (typeof path !== 'string') continue
    const file = join(home, path)
    if (path !== main && !(await stat(file).catch(() => null))) continue
    imports[name] = file
    return
  }
}

/** The path of an entry of `exports`, by the first condition that matches. */
function targetOf(target: unknown): string | null {
  if (typeof target === 'string') return target
  if (target === null || typeof target !== 'object' || Array.isArray(target)) return null
  for (const condition of CONDITIONS) {
    const found = targetOf((target as Record<string, unknown>)[condition])
    if (found !== null) return found
  }
  return null
}

function strings(value: unknown): string[] | null {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : null
}
