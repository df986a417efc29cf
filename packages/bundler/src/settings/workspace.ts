import { glob, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { readJsonFile, type JsonSettings } from './json-file.ts'

/** Packages of the workspace around a folder, by name. */
export interface Workspace {
  /** Import map of its members: their names, and names with a subpath. */
  readonly imports: Readonly<Record<string, string>>
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
    if (found) return membersOf(at, found)
    if (at === dirname(at)) break
  }
  return { imports: {}, files: [] }
}

interface Patterns {
  readonly file: string
  readonly patterns: readonly string[]
}

async function patternsIn(folder: string): Promise<Patterns | null> {
  for (const name of ['deno.json', 'deno.jsonc']) {
    const given = (await readJsonFile(join(folder, name)))?.workspace as { members?: unknown } | undefined
    const patterns = strings(Array.isArray(given) ? given : given?.members)
    if (patterns) return { file: join(folder, name), patterns }
  }
  const given = (await readJsonFile(join(folder, 'package.json')))?.workspaces as { packages?: unknown } | undefined
  const patterns = strings(Array.isArray(given) ? given : given?.packages)
  if (patterns) return { file: join(folder, 'package.json'), patterns }
  const file = join(folder, 'pnpm-workspace.yaml')
  const yaml = await readFile(file, 'utf8').catch(() => null)
  return yaml === null ? null : { file, patterns: packagesOf(yaml) }
}

/** The list `packages:` of a pnpm-workspace.yaml, in the block form that pnpm writes, or on one line. */
function packagesOf(yaml: string): string[] {
  const at = yaml.search(/^packages:/m)
  if (at === -1) return []
  const text = yaml.slice(at + 'packages:'.length)
  const list = /^[ \t]*\[([^\]]*)\]/.exec(text)
  const items = list ? list[1]!.split(',') : itemsOf(text)
  return items
    .map((item) =>
      item
        .replace(/\s#.*/, '')
        .trim()
        .replace(/^(["'])(.*)\1$/, '$2'),
    )
    .filter(Boolean)
}

/** The items of a list whose key ends where the text begins, up to the next key. */
function itemsOf(text: string): string[] {
  const items: string[] = []
  for (const line of text.split('\n').slice(1)) {
    const content = line.trim()
    if (content.startsWith('-')) items.push(content.slice(1))
    else if (content !== '' && !content.startsWith('#')) break
  }
  return items
}

async function membersOf(root: string, { file, patterns }: Patterns): Promise<Workspace> {
  const imports: Record<string, string> = {}
  const files = [file]
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!')).map((pattern) => pattern.replace(/\/$/, ''))
  const unwanted = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1))
  const exclude = ['**/node_modules', ...unwanted]
  let members = 0
  for await (const path of glob(wanted, { cwd: root, exclude })) {
    if (++members > MAX_MEMBERS) break
    const home = resolve(root, path)
    for (const name of ['deno.json', 'deno.jsonc', 'package.json']) {
      const config = await readJsonFile(join(home, name))
      if (typeof config?.name !== 'string') continue
      files.push(join(home, name))
      await addMember(imports, config.name, config, home)
      break
    }
  }
  return { imports, files }
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
