import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'smol-toml'
import stripJsonComments from 'strip-json-comments'
import { bundleFailed } from '../errors.ts'

/** Names of the configuration of a Cloudflare Worker, the one that is used first. */
export const WRANGLER_FILES = ['wrangler.jsonc', 'wrangler.json', 'wrangler.toml'] as const

/** What the configuration of a Worker says of the function in its folder. */
export interface WorkerSettings {
  /** The Worker's name; null: none is given. */
  readonly name: string | null
  /** Absolute path; null: the usual file of the folder. */
  readonly entrypoint: string | null
  /** Members of `env`: `var:NAME=text`, `json:NAME=JSON`, `kv:NAME=namespace`, `queue:NAME=queue`. */
  readonly bindings: readonly string[]
  /** Cron expressions, Sunday being 0. */
  readonly schedule: readonly string[]
  /** Queue that it consumes; null: none. */
  readonly consumer: { readonly queue: string; readonly batch: number; readonly attempts: number } | null
  /** Settings that have no counterpart here, as `field: name`. */
  readonly unavailable: readonly string[]
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
const QUEUE = /^[a-z][a-z0-9_-]{0,62}$/
const NAME = /^[A-Za-z_]\w{0,127}$/

/**
 * The settings of the Worker in a folder; null where none of {@link WRANGLER_FILES} is there. Those of named environments are not read.
 *
 * @throws FUNCTION_BUNDLE_FAILED for a file that cannot be read, or a field of another type
 */
export function readWrangler(folder: string): WorkerSettings | null {
  for (const name of WRANGLER_FILES) {
    let text: string
    try {
      text = readFileSync(join(folder, name), 'utf8')
    } catch {
      continue
    }
    try {
      const config: unknown = name.endsWith('.toml')
        ? parse(text)
        : JSON.parse(stripJsonComments(text, { trailingCommas: true }))
      return settingsOf(tableOf(config), folder)
    } catch (error) {
      throw bundleFailed({ problems: [`${name}: ${(error as Error).message}`] })
    }
  }
  return null
}

function settingsOf(config: Table, folder: string): WorkerSettings {
  const { main } = config
  if (main !== undefined && typeof main !== 'string') throw new Error('main must be a path')
  const unavailable: string[] = []
  const queues = tableOf(config['queues'])
  const bindings = [
    ...Object.entries(tableOf(config['vars'])).map(([name, value]) =>
      typeof value === 'string' ? `var:${nameOf(name)}=${value}` : `json:${nameOf(name)}=${JSON.stringify(value)}`,
    ),
    ...listOf(config['kv_namespaces']).map(({ binding, id }) => {
      const name = nameOf(binding)
      return `kv:${name}=${typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : name}`
    }),
    ...listOf(queues['producers']).map(({ binding, queue }) => `queue:${nameOf(binding)}=${queueOf(queue)}`),
  ]
  const [consumer, ...more] = listOf(queues['consumers'])
  for (const { queue } of more) unavailable.push(`queues.consumers: ${String(queue)}`)
  for (const [field, member] of Object.entries(UNAVAILABLE))
    for (const { [member]: value } of listOf(config[field]))
      unavailable.push(`${field}: ${typeof value === 'string' ? value : '?'}`)
  for (const { name } of listOf(tableOf(config['durable_objects'])['bindings']))
    unavailable.push(`durable_objects: ${String(name)}`)
  if (Object.keys(tableOf(config['env'])).length > 0) unavailable.push('env: named environments')
  return {
    name: typeof config['name'] === 'string' ? config['name'] : null,
    entrypoint: main === undefined ? null : resolve(folder, main),
    bindings,
    schedule: textsOf(tableOf(config['triggers'])['crons']).map(fromSunday),
    consumer: consumer ? consumerOf(consumer) : null,
    unavailable,
  }
}

function consumerOf({ queue, max_batch_size: size, max_retries: retries }: Table): WorkerSettings['consumer'] {
  return {
    queue: queueOf(queue),
    batch: countOf(size, 10, 50),
    attempts: countOf(typeof retries === 'number' ? retries + 1 : null, 4, 20),
  }
}

/** A count of 1 to `most`. */
function countOf(value: unknown, usual: number, most: number): number {
  return Math.min(most, Math.max(1, typeof value === 'number' ? Math.round(value) : usual))
}

/** Days of the week are 1 to 7 from Sunday on in the crons of Workers. */
function fromSunday(cron: string): string {
  const fields = cron.trim().split(/\s+/)
  const days = fields[4]
  if (fields.length !== 5 || days === undefined) return cron
  fields[4] = days.replace(
    /(^|[,-])([1-7])(?=$|[,/-])/g,
    (_, before: string, day: string) => before + String(Number(day) - 1),
  )
  return fields.join(' ')
}

function nameOf(value: unknown): string {
  if (typeof value === 'string' && NAME.test(value)) return value
  throw new Error(`the binding ${JSON.stringify(value)} has to be a name of A-Z, a-z, 0-9 and _`)
}

function queueOf(value: unknown): string {
  if (typeof value === 'string' && QUEUE.test(value)) return value
  throw new Error(
    `the queue ${JSON.stringify(value)} has to be a name of a-z, 0-9, _ and -, which begins with a letter`,
  )
}

function tableOf(value: unknown): Table {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Table) : {}
}

/** Tables of a list; a table of its own is a list of one. */
function listOf(value: unknown): Table[] {
  return (Array.isArray(value) ? value : value === undefined ? [] : [value]).map(tableOf)
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []
}
