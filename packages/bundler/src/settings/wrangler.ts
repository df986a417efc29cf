import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parse } from 'smol-toml'
import stripJsonComments from 'strip-json-comments'
import { bundleFailed } from '../errors.ts'
import { fromSunday } from './wrangler-crons.ts'

/** File names of the configuration of a Cloudflare Worker, in the order of their precedence. */
export const WRANGLER_FILES = ['wrangler.json', 'wrangler.jsonc', 'wrangler.toml'] as const

/** The configuration of a Worker for the function in its folder. */
export interface WorkerSettings {
  /** The Worker's name; null when absent. */
  readonly name: string | null
  /** Absolute path; null: the usual file of the folder. */
  readonly entrypoint: string | null
  /**
   * Members of `env`: `var:NAME=text`, `json:NAME=JSON`, `kv:NAME=namespace`, `queue:NAME=queue`. `worker:crons=JSON` has the texts of
   * the crons by the expressions of `schedule`.
   */
  readonly bindings: readonly string[]
  /** Cron expressions, Sunday being 0. */
  readonly schedule: readonly string[]
  /** Queue that it consumes; null for none. */
  readonly consumer: { readonly queue: string; readonly batch: number; readonly attempts: number } | null
  /** Settings that have no counterpart here, or are not read, as `field: name`. */
  readonly unavailable: readonly string[]
  /** Settings of the file that are applied differently. */
  readonly notes: readonly string[]
}

type Table = Readonly<Record<string, unknown>>

/** Bindings of Workers that are not offered, and the member that names each. */
const UNAVAILABLE: Readonly<Record<string, string>> = {
  ai: 'binding',
  analytics_engine_datasets: 'binding',
  assets: 'binding',
  browser: 'binding',
  containers: 'class_name',
  d1_databases: 'binding',
  dispatch_namespaces: 'binding',
  hyperdrive: 'binding',
  images: 'binding',
  mtls_certificates: 'binding',
  pipelines: 'binding',
  r2_buckets: 'binding',
  ratelimits: 'name',
  secrets_store_secrets: 'binding',
  send_email: 'name',
  services: 'binding',
  tail_consumers: 'service',
  vectorize: 'binding',
  version_metadata: 'binding',
  workflows: 'binding',
}
/** Settings without an effect on a Worker here. */
const HARMLESS = [
  '$schema',
  'account_id',
  'compatibility_date',
  'compatibility_flags',
  'dev',
  'keep_vars',
  'limits',
  'logpush',
  'minify',
  'observability',
  'placement',
  'preview_urls',
  'secrets',
  'send_metrics',
  'tsconfig',
  'upload_source_maps',
  'workers_dev',
]
const READ = [
  'route',
  'routes',
  'name',
  'main',
  'vars',
  'kv_namespaces',
  'queues',
  'triggers',
  'durable_objects',
  'env',
]
const KNOWN: ReadonlySet<string> = new Set([...HARMLESS, ...READ, ...Object.keys(UNAVAILABLE)])
const MAX_BATCH = 50
const MAX_ATTEMPTS = 20
const QUEUE = /^[a-z][a-z0-9_-]{0,62}$/
const NAME = /^[A-Za-z_]\w{0,127}$/
const NAMESPACE = /^[\w-]{1,64}$/

/**
 * The settings of the Worker in a folder; null without any of {@link WRANGLER_FILES}. Settings of named environments
 * are not read.
 *
 * @throws FUNCTION_BUNDLE_FAILED for a file that cannot be read, or a field of another type
 */
export function readWrangler(folder: string): WorkerSettings | null {
  for (const name of WRANGLER_FILES) {
    let text: string
    try {
      text = readFileSync(join(folder, name), 'utf8').replace(/^\uFEFF/, '')
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') continue
      throw bundleFailed({ problems: [`${name}: ${message}`] })
    }
    try {
      const config: unknown = name.endsWith('.toml')
        ? parse(text)
        : JSON.parse(stripJsonComments(text, { trailingCommas: true }))
      return settingsOf(tableOf(config, 'the file'), folder)
    } catch (error) {
      throw bundleFailed({ problems: [`${name}: ${(error as Error).message}`] })
    }
  }
  return null
}

function settingsOf(config: Table, folder: string): WorkerSettings {
  const name = textOf(config['name'], 'name')
  const main = textOf(config['main'], 'main')
  const unavailable: string[] = unavailableOf(config)
  const notes = ['route', 'routes'].flatMap((field) =>
    config[field] === undefined ? [] : [`${field}: the address is that of the function`],
  )
  const queues = tableOf(config['queues'], 'queues')
  const triggers = tableOf(config['triggers'], 'triggers')
  const rest = (table: Table, field: string, read: readonly string[]) =>
    unavailable.push(...Object.keys(table).flatMap((key) => (read.includes(key) ? [] : [`${field}.${key}`])))
  const bindings = [
    ...Object.entries(tableOf(config['vars'], 'vars')).flatMap(([key, value]) => {
      if (isName(key)) return [variableOf(key, value)]
      unavailable.push(`vars: ${key}`)
      return []
    }),
    ...listOf(config['kv_namespaces'], 'kv_namespaces').map(({ binding, id }) => {
      const own = nameOf(binding)
      if (typeof id === 'string' && NAMESPACE.test(id)) return `kv:${own}=${id}`
      // Other Workers have namespaces of this name.
      const namespace = `${(name ?? basename(folder)).replaceAll(/[^\w-]/g, '-')}-${own}`.slice(0, 64)
      notes.push(`kv_namespaces: ${own} has no id, so its namespace is ${namespace}`)
      return `kv:${own}=${namespace}`
    }),
    ...listOf(queues['producers'], 'queues.producers').map(({ binding, queue, ...more }) => {
      rest(more, 'queues.producers', [])
      return `queue:${nameOf(binding)}=${queueOf(queue)}`
    }),
  ]
  const [consumer, ...more] = listOf(queues['consumers'], 'queues.consumers')
  for (const { queue } of more) unavailable.push(`queues.consumers: ${String(queue)}`)
  rest(queues, 'queues', ['producers', 'consumers'])
  rest(consumer ?? {}, 'queues.consumers', ['queue', 'max_batch_size', 'max_retries'])
  rest(triggers, 'triggers', ['crons'])
  const crons = textsOf(triggers['crons'], 'triggers.crons').map((cron) => [fromSunday(cron), cron] as const)
  return {
    name,
    entrypoint: main === null ? null : resolve(folder, main),
    bindings: [...bindings, `worker:crons=${JSON.stringify(Object.fromEntries(crons))}`],
    schedule: crons.map(([expression]) => expression),
    consumer: consumer ? consumerOf(consumer, notes) : null,
    unavailable,
    notes,
  }
}

/** Bindings that are not offered, and settings that are not read. */
function unavailableOf(config: Table): string[] {
  const found: string[] = []
  for (const [field, member] of Object.entries(UNAVAILABLE))
    for (const each of [config[field] ?? []].flat()) {
      // Older files name only the folder of assets.
      const value = typeof each === 'string' ? each : tableOf(each, field)[member]
      found.push(`${field}: ${typeof value === 'string' ? value : '?'}`)
    }
  const objects = tableOf(config['durable_objects'], 'durable_objects')
  for (const { name } of listOf(objects['bindings'], 'durable_objects.bindings'))
    found.push(`durable_objects: ${String(name)}`)
  if (Object.keys(tableOf(config['env'], 'env')).length > 0) found.push('env: named environments')
  return [...found, ...Object.keys(config).filter((key) => !KNOWN.has(key))]
}

function variableOf(key: string, value: unknown): string {
  if (typeof value === 'string') return `var:${key}=${value}`
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`vars.${key}: JSON has no ${value}`)
  return `json:${key}=${JSON.stringify(value)}`
}

function consumerOf({ queue, max_batch_size: size, max_retries: retries }: Table, notes: string[]) {
  /** A count of 1 to `most`. */
  const countOf = (value: unknown, field: string, usual: number, most: number) => {
    if (value === undefined || value === null) return usual
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
      throw new Error(`queues.consumers.${field} has to be a whole number`)
    if (value > most) notes.push(`queues.consumers: ${field} is ${most}, the most, instead of ${value}`)
    return Math.min(most, value)
  }
  return {
    queue: queueOf(queue),
    batch: Math.max(1, countOf(size, 'max_batch_size', 10, MAX_BATCH)),
    attempts: countOf(retries, 'max_retries', 3, MAX_ATTEMPTS - 1) + 1,
  }
}

function isName(name: string): boolean {
  return NAME.test(name) && name !== '__proto__'
}

function nameOf(value: unknown): string {
  if (typeof value === 'string' && isName(value)) return value
  throw new Error(`the binding ${JSON.stringify(value)} has to be a name of A-Z, a-z, 0-9 and _`)
}

function queueOf(value: unknown): string {
  if (typeof value === 'string' && QUEUE.test(value)) return value
  throw new Error(
    `the queue ${JSON.stringify(value)} has to be a name of a-z, 0-9, _ and -, which begins with a letter`,
  )
}

function tableOf(value: unknown, field: string): Table {
  if (value === undefined) return {}
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Table
  throw new Error(`${field} has to be a table`)
}

function listOf(value: unknown, field: string): Table[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new Error(`${field} has to be a list of tables`)
  return value.map((each) => tableOf(each, field))
}

function textOf(value: unknown, field: string): string | null {
  if (value === undefined) return null
  if (typeof value !== 'string') throw new Error(`${field} has to be a text`)
  return value
}

function textsOf(value: unknown, field: string): string[] {
  if (value === undefined) return []
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value
  throw new Error(`${field} has to be a list of texts`)
}
