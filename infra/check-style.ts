import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseSync, Visitor, type ParseResult } from 'oxc-parser'

// Style rules that the code does not follow completely yet: infra/style.json has the number of violations by workspace.
// A number may only decrease; `node infra/check-style.ts --update` writes the current ones, and `--list packages/osm`
// prints the places. `--lines` prints the lines of hand-written source by workspace.

const ROOT = dirname(import.meta.dirname)
const LEDGER = join(ROOT, 'infra/style.json')
const MAX_LINES = 60
const MAX_PARAMETERS = 4
const MAX_EXPORTS = 20
/** Lines of source that a workspace, and all together, may have. The ledger has each above 1,000 in steps of 500. */
const MAX_SOURCE = { workspace: 15_000, 'packages/routing': 20_000, total: 145_000 }
const SOURCE_STEP = 500
/** Phrases that are hard to read. */
const PHRASES =
  /\b(?:nobody|somebody|whoever|those (?:that|who)|for so long|of which|none that|without a word|says of itself|was heard of|what becomes of|took leave|takes leave|(?:is|are) told of)\b|(?:\/\*\*|\/\/) (?:What|Who|Whom)\b(?! (?:is wrong|went wrong|to do))/gi

type Rule = 'longFunctions' | 'manyParameters' | 'phrases' | 'typeCircles' | 'exportsOverLimit' | 'sourceLines'
type Counts = Partial<Record<Rule, number>>

/** A violation of a rule: its place and text. */
interface Finding {
  readonly rule: Rule
  readonly place: string
}

const { listed, isUpdate, isOfLines } = readArguments(process.argv.slice(2))
const workspaces = ['docs', ...globSync('{packages,apps,infra}/*/package.json', { cwd: ROOT }).map(dirname)].toSorted()
const found = new Map(workspaces.map((workspace) => [workspace, findingsOf(workspace)]))
const present = Object.fromEntries(
  [...found].map(([workspace, findings]) => [workspace, { ...countsOf(findings), ...roundedSource(workspace) }]),
)
if (isOfLines) {
  printSource()
} else if (listed !== null) {
  for (const { rule, place } of found.get(listed) ?? []) console.log(`${rule}: ${place}`)
} else if (isUpdate) {
  writeFileSync(LEDGER, `${JSON.stringify(present, null, 2)}\n`)
} else {
  compare(JSON.parse(readFileSync(LEDGER, 'utf8')) as Record<string, Counts>)
}

interface Options {
  readonly listed: string | null
  readonly isUpdate: boolean
  readonly isOfLines: boolean
}

function readArguments(args: readonly string[]): Options {
  const at = args.indexOf('--list')
  return {
    listed: at === -1 ? null : (args[at + 1] ?? ''),
    isUpdate: args.includes('--update'),
    isOfLines: args.includes('--lines'),
  }
}

function compare(ledger: Record<string, Counts>): void {
  const risen: string[] = []
  for (const [workspace, counts] of Object.entries(present)) {
    for (const [rule, count] of Object.entries(counts)) {
      const allowed = ledger[workspace]?.[rule as Rule] ?? 0
      if (count > allowed) risen.push(`${workspace}: ${rule} ${count}, at most ${allowed}`)
    }
  }
  if (risen.length === 0) return
  process.stderr.write(`More than infra/style.json allows (places: node infra/check-style.ts --list <workspace>):\n`)
  process.stderr.write(`${risen.join('\n')}\n`)
  process.exitCode = 1
}

/** Lines of hand-written source of a workspace, with and without comments and blank lines. Tests do not count. */
function sourceOf(workspace: string): { lines: number; code: number } {
  const files = globSync(`${workspace}/{src,web/src}/**/*.{ts,tsx,css,sql}`, { cwd: ROOT })
  const count = { lines: 0, code: 0 }
  for (const file of files.filter((name) => !/\.test\.tsx?$/.test(name))) {
    const lines = readFileSync(join(ROOT, file), 'utf8').trimEnd().split('\n')
    count.lines += lines.length
    count.code += lines.filter((line) => !/^\s*(?:$|\/\/|\/\*|\*|--)/.test(line)).length
  }
  return count
}

function roundedSource(workspace: string): Counts {
  const { lines } = sourceOf(workspace)
  return lines <= 1000 ? {} : { sourceLines: Math.ceil(lines / SOURCE_STEP) * SOURCE_STEP }
}

function printSource(): void {
  const rows = workspaces.map((workspace) => ({ workspace, ...sourceOf(workspace) })).filter(({ lines }) => lines > 0)
  const sum = (of: 'lines' | 'code') => rows.reduce((total, row) => total + row[of], 0)
  const all = [
    ...rows.toSorted((a, b) => b.lines - a.lines),
    { workspace: 'total', lines: sum('lines'), code: sum('code') },
  ]
  const limits: Readonly<Record<string, number>> = MAX_SOURCE
  for (const { workspace, lines, code } of all) {
    const over = lines - (limits[workspace] ?? MAX_SOURCE.workspace)
    console.log(`${workspace}: ${lines} lines, ${code} of code${over > 0 ? `, ${over} over the limit` : ''}`)
  }
}

function countsOf(findings: readonly Finding[]): Counts {
  const counts: Counts = {}
  for (const { rule } of findings) counts[rule] = (counts[rule] ?? 0) + 1
  return counts
}

function findingsOf(workspace: string): Finding[] {
  const pages = globSync(`${workspace}/**/*.md`, { cwd: ROOT, exclude: ['**/node_modules/**'] })
  const sources = globSync(`${workspace}/{src,web/src,test,bench}/**/*.{ts,tsx}`, { cwd: ROOT }).toSorted()
  const parsed = new Map(sources.map((file) => [file, parseSync(file, readFileSync(join(ROOT, file), 'utf8'))]))
  const written = sources.filter((file) => !/(?:\.test\.ts|^[^/]+\/[^/]+\/(?:test|bench)\/.*)$/.test(file))
  return [
    ...[...pages, ...sources].flatMap(phrasesOf),
    ...sources.flatMap((file) => functionsOf(file, parsed.get(file)!)),
    ...circlesOf(written, parsed),
    ...exportsOf(workspace, parsed),
  ]
}

function phrasesOf(file: string): Finding[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n')
  return lines.flatMap((line, index) =>
    [...line.matchAll(PHRASES)].map(([words]) => ({
      rule: 'phrases' as const,
      place: `${file}:${index + 1} ${words}`,
    })),
  )
}

interface FunctionNode {
  readonly start: number
  readonly end: number
  readonly params: readonly unknown[]
}

function functionsOf(file: string, { program }: ParseResult): Finding[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const findings: Finding[] = []
  const isTest = file.endsWith('.test.ts')
  const look = ({ start, end, params }: FunctionNode) => {
    const line = text.slice(0, start).split('\n').length
    const lines = text.slice(start, end).split('\n').length
    const place = `${file}:${line}`
    // A test suite is one function, so its length is not limited.
    if (lines > MAX_LINES && !isTest) findings.push({ rule: 'longFunctions', place: `${place} (${lines} lines)` })
    if (params.length > MAX_PARAMETERS) findings.push({ rule: 'manyParameters', place: `${place} (${params.length})` })
  }
  new Visitor({ FunctionDeclaration: look, FunctionExpression: look, ArrowFunctionExpression: look }).visit(program)
  return findings
}

/** Files that import each other, types included; one finding per group. */
function circlesOf(files: readonly string[], parsed: ReadonlyMap<string, ParseResult>): Finding[] {
  const known = new Set(files)
  const edges = new Map(
    files.map((file) => [file, importsOf(file, parsed.get(file)!).filter((target) => known.has(target))]),
  )
  const reach = (from: string) => {
    const seen = new Set<string>()
    const open = [...edges.get(from)!]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...edges.get(next)!)
    }
    return seen
  }
  const reached = new Map(files.map((file) => [file, reach(file)]))
  const groups = new Set(
    files
      .filter((file) => reached.get(file)!.has(file))
      .map((file) => files.filter((other) => reached.get(file)!.has(other) && reached.get(other)!.has(file)).join(' ')),
  )
  return [...groups].map((place) => ({ rule: 'typeCircles', place }))
}

function importsOf(file: string, { module }: ParseResult): string[] {
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
  ]
  return specifiers
    .filter((name) => name.startsWith('.'))
    .map((name) => relative(ROOT, join(ROOT, dirname(file), name)))
}

/** Names that a package exports beyond the limit. */
function exportsOf(workspace: string, parsed: ReadonlyMap<string, ParseResult>): Finding[] {
  const face = parsed.get(`${workspace}/src/index.ts`)
  if (face === undefined) return []
  const names = face.module.staticExports.flatMap(({ entries }) =>
    entries.map(({ exportName }) => exportName.name ?? '* from another file'),
  )
  return names
    .slice(MAX_EXPORTS)
    .map((name) => ({ rule: 'exportsOverLimit', place: `${workspace}/src/index.ts ${name}` }))
}
