import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { settings as consoleSettings } from '../apps/console/src/config.ts'
import { settings as functions } from '../apps/functions/src/config.ts'
import { settings as origin } from '../apps/origin/src/config.ts'
import { settings as router } from '../apps/router/src/config.ts'
import { settings as worker } from '../apps/worker/src/config.ts'
import { readSettings } from '../packages/service/src/settings/read-settings.ts'
import {
  EveryApp,
  factsOf,
  groupOf,
  ServiceVariables,
  type SettingFacts,
  type SettingsSchema,
} from '../packages/service/src/settings/schema.ts'

// Writes the settings of the apps into docs/settings.md (between its markers) and .env.example, from
// apps/*/src/config.ts. With --check it only reports whether both are up to date; part of `pnpm check`. Each app
// accepts the settings file in the example of the page.

/** A variable or a member of the settings file. */
interface Setting extends SettingFacts {
  readonly name: string
}
type Properties = SettingsSchema['variables']

const root = dirname(import.meta.dirname)
const apps = [worker, origin, functions, router, consoleSettings]
const stale = [
  write('docs/settings.md', (text) => between(between(text, 'variables', variables()), 'file', members())),
  write('.env.example', () => example()),
].filter((path) => path !== null)
if (stale.length > 0 && process.argv.includes('--check')) {
  process.stderr.write(`${stale.join(' and ')} do not say what the apps read: run 'node infra/settings-docs.ts'\n`)
  process.exitCode = 1
}

const [, shown = ''] = /^```json\n([^]*?)^```$/m.exec(readFileSync(join(root, 'docs/settings.md'), 'utf8')) ?? []
for (const { app, file } of apps) readSettings({ app, variables: {}, file }, { TERRANE_SETTINGS: shown })

function variablesOf(properties: Properties): Setting[] {
  return Object.entries(properties).map(([name, schema]) => ({ ...factsOf(schema), name }))
}

function membersOf(properties: Properties, path: string): Setting[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const group = groupOf(schema)
    return group ? membersOf(group, `${path}.${name}`) : [{ ...factsOf(schema), name: `${path}.${name}` }]
  })
}

function variables(): string[] {
  const tables = [['every app', ServiceVariables] as const, ...apps.map((app) => [app.app, app.variables] as const)]
  return tables.flatMap(([name, properties]) => [
    `### ${name}`,
    '',
    '| variable | default | values | |',
    '|---|---|---|---|',
    ...variablesOf(properties).map((setting) => `| ${cells(setting)} |`),
    '',
  ])
}

function members(): string[] {
  const sections = [['everyApp', EveryApp] as const, ...apps.map((app) => [app.app, app.file] as const)]
  return sections.flatMap(([name, properties]) => [
    `### Section \`${name}\``,
    '',
    '| member | default | values | | formerly |',
    '|---|---|---|---|---|',
    ...membersOf(properties, name).map((setting) => `| ${cells(setting)} | ${code(setting.formerly ?? '')} |`),
    '',
  ])
}

function cells({ name, default: fallback, isRequired, description = '', ...facts }: Setting): string {
  const value = isRequired ? '**required**' : code(textOf(fallback))
  return [code(name), value, rangeOf(facts), description.replaceAll('|', '\\|')].join(' | ')
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function rangeOf({ minimum, maximum, enum: values }: Pick<SettingFacts, 'minimum' | 'maximum' | 'enum'>): string {
  if (values) return values.join(', ')
  if (minimum !== undefined && maximum !== undefined) return `${minimum}–${maximum}`
  if (minimum !== undefined) return `≥ ${minimum}`
  return maximum === undefined ? '' : `≤ ${maximum}`
}

/** Each variable once: required ones first, then those of all apps, of several apps, and of single apps. */
function example(): string {
  const readers = new Map<string, { setting: Setting; app: string }[]>()
  for (const { app, variables: own } of apps)
    for (const setting of variablesOf(own))
      readers.set(setting.name, [...(readers.get(setting.name) ?? []), { setting, app }])
  const everyApp = variablesOf(ServiceVariables).flatMap(line)
  const groups: Record<string, string[]> = { required: [], 'every app': everyApp, 'several apps': [] }
  for (const all of readers.values()) {
    const several = all.length > 1 ? 'several apps' : all[0]!.app
    const required = all.find(({ setting }) => setting.isRequired)
    const group = required ? 'required' : several
    const texts = all.map(({ app, setting }) => [app, `${setting.description} ${textOf(setting.default)}`] as const)
    const isShared = new Set(texts.map(([, text]) => text)).size === 1
    const comments = isShared ? [] : texts.map(([app, text]) => `# ${app}: ${text}`.trimEnd())
    const [comment, assignment] = line((required ?? all[0]!).setting)
    ;(groups[group] ??= []).push(...(comments.length > 0 ? comments : [comment]), assignment)
  }
  return [
    '# Variables of the apps, each with its default. docs/settings.md has them by app; `npm start` needs none of them.',
    ...Object.entries(groups).flatMap(([name, lines]) => ['', `## ${name}`, ...lines]),
    '',
  ].join('\n')
}

function line({ name, description, default: fallback, isRequired }: Setting): [string, string] {
  return [`# ${description}`, `${isRequired ? '' : '# '}${name}=${textOf(fallback)}`]
}

function between(text: string, part: string, lines: readonly string[]): string {
  const [start, end] = [`<!-- ${part}: written by infra/settings-docs.ts -->`, `<!-- /${part} -->`]
  const from = text.indexOf(start)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`docs/settings.md has lost the markers of its ${part}`)
  return `${text.slice(0, from + start.length)}\n\n${lines.join('\n')}${text.slice(to)}`
}

/** Returns the path of an outdated file; writes the file unless asked to check. */
function write(path: string, make: (text: string) => string): string | null {
  const file = join(root, path)
  const text = readFileSync(file, 'utf8')
  const wanted = make(text)
  if (wanted === text) return null
  if (!process.argv.includes('--check')) writeFileSync(file, wanted)
  return path
}
