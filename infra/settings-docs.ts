import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Env as consoleEnv } from '../apps/console/src/config.ts'
import { Env as functions } from '../apps/functions/src/config.ts'
import { Env as origin } from '../apps/origin/src/config.ts'
import { Env as router } from '../apps/router/src/config.ts'
import { Env as worker } from '../apps/worker/src/config.ts'

// Writes the environment variables of the apps into docs/operations.md (between its markers) and .env.example, from the
// schemas in apps/*/src/config.ts. With --check it only reports whether both are up to date; part of `pnpm check`.

interface Setting {
  readonly name: string
  readonly description: string
  readonly fallback: string | null
  readonly required: boolean
  readonly range: string
}

const root = dirname(import.meta.dirname)
const schemas: Readonly<Record<string, object>> = { worker, origin, functions, router, console: consoleEnv }
const apps = new Map(Object.entries(schemas).map(([app, schema]) => [app, settingsOf(schema as ConfigSchema)]))
const common = [...commonTo([...apps.values()])]
const stale = [
  write('docs/operations.md', (text) => between(text, operations())),
  write('.env.example', () => example()),
].filter((path) => path !== null)
if (stale.length > 0 && process.argv.includes('--check')) {
  process.stderr.write(`${stale.join(' and ')} do not say what the apps read: run 'node infra/settings-docs.ts'\n`)
  process.exitCode = 1
}

interface ConfigSchema {
  readonly required?: readonly string[]
  readonly properties: Readonly<Record<string, SettingSchema>>
}
interface SettingSchema {
  readonly description?: string
  readonly default?: string | number | boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly string[]
}

function settingsOf(schema: ConfigSchema): Setting[] {
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    description: property.description ?? '',
    fallback: property.default === undefined ? null : `${property.default}`,
    required: property.default === undefined && (schema.required ?? []).includes(name),
    range: rangeOf(property),
  }))
}

function rangeOf({ minimum, maximum, enum: values }: SettingSchema): string {
  if (values) return values.join(', ')
  if (minimum !== undefined && maximum !== undefined) return `${minimum}–${maximum}`
  if (minimum !== undefined) return `≥ ${minimum}`
  return maximum === undefined ? '' : `≤ ${maximum}`
}

/** Settings that every app reads in the same way. */
function* commonTo(all: readonly Setting[][]): Generator<Setting> {
  for (const setting of all[0] ?? []) {
    const text = JSON.stringify(setting)
    if (all.every((settings) => settings.some((other) => JSON.stringify(other) === text))) yield setting
  }
}

function own(settings: readonly Setting[]): Setting[] {
  const shared = new Set(common.map((setting) => setting.name))
  return settings.filter((setting) => !shared.has(setting.name))
}

function operations(): string {
  const sections = [...apps].flatMap(([app, settings]) => [`### ${app}`, '', ...tableOf(own(settings))])
  return ['', '### every app', '', ...tableOf(common), ...sections].join('\n')
}

function tableOf(settings: readonly Setting[]): string[] {
  const rows = settings.map(({ name, description, fallback, required, range }) => {
    const value = fallback ? `\`${fallback}\`` : ''
    return `| \`${name}\` | ${required ? '**required**' : value} | ${range} | ${description.replaceAll('|', '\\|')} |`
  })
  return ['| variable | default | values | |', '|---|---|---|---|', ...rows, '']
}

function example(): string {
  return [
    '# Every variable that an app reads, with its default. docs/operations.md says more; `npm start` needs none of them.',
    '',
    '## every app',
    ...assignments(common),
    ...[...apps].flatMap(([app, settings]) => ['', `## ${app}`, ...assignments(own(settings))]),
    '',
  ].join('\n')
}

function assignments(settings: readonly Setting[]): string[] {
  return settings.flatMap(({ name, description, fallback, required }) => [
    `# ${description}${required ? ' Required.' : ''}`,
    `${required ? '' : '# '}${name}=${fallback ?? ''}`,
  ])
}

function between(text: string, inner: string): string {
  const [start, end] = ['<!-- settings: written by infra/settings-docs.ts -->', '<!-- /settings -->']
  const from = text.indexOf(start)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error('docs/operations.md has lost the markers of its settings')
  return `${text.slice(0, from + start.length)}\n${inner}${text.slice(to)}`
}

/** Returns the path of an outdated file; writes the file unless asked to check. */
function write(path: string, make: (text: string) => string): string | null {
  const file = join(root, path)
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const wanted = make(text)
  if (wanted === text) return null
  if (!process.argv.includes('--check')) writeFileSync(file, wanted)
  return path
}
