import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { hashKey, makeOpaqueKey } from '@terrane/auth'
import { TerraneError } from '@terrane/core'
import { migrate, openDatabase, type Database } from '@terrane/database'
import { openModelStore, pinModel } from '@terrane/embeddings'
import { createGuardedFetch, createSealer, parseSecretsKey, splitList } from '@terrane/service'
import { modelFetcher } from './jobs/create-geo-embeddings/model-fetcher.ts'

const USAGE = `Usage: node apps/worker/src/cli.ts <command>

Models (TERRANE_MODEL_DIR, default .terrane/models; HF_TOKEN for gated ones):
  models list                  what there is, and what is missing
  models pin <id> [--local]    write revision, sizes and checksums into <id>.json; --local from the files in place
  models fetch <id>            download and verify a model now

The shared pool (DATABASE_URL; TERRANE_SECRETS_KEY for projects):
  organization add <name>                  prints its id
  key add <organization id> [label]        makes a Services API key and prints it once
  key revoke <key's first 16 hash digits>  makes a key worthless
  project add <ref> <organization id>      registers a project; its target as JSON on standard input:
                                           {"databaseUrl": "…", "serviceRoleKey": "…", "storageUrl": "…"}
`

class UsageError extends Error {}

try {
  const { positionals, values } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: { local: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help || positionals.length === 0) process.stdout.write(USAGE)
  else await run(positionals, values.local ?? false)
} catch (error) {
  const isUsage = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
  process.stderr.write(`${(error as Error).message}\n`)
  if (error instanceof TerraneError && error.hint) process.stderr.write(`${error.hint}\n`)
  if (isUsage) process.stderr.write(USAGE)
  process.exitCode = isUsage ? 2 : 1
}

async function run([group = '', action = '', ...args]: string[], local: boolean): Promise<void> {
  switch (`${group} ${action}`) {
    case 'models list':
      return listModels()
    case 'models pin':
      return pin(argument(args, 0, 'the id of a model'), local)
    case 'models fetch':
      return fetchModel(argument(args, 0, 'the id of a model'))
    case 'organization add':
      return withDatabase((database) => addOrganization(database, argument(args, 0, 'a name')))
    case 'key add':
      return withDatabase((database) => addKey(database, argument(args, 0, 'the id of an organization'), args[1] ?? ''))
    case 'key revoke':
      return withDatabase((database) => revokeKey(database, argument(args, 0, "the key's first 16 hash digits")))
    case 'project add':
      return withDatabase((database) =>
        addProject(database, argument(args, 0, 'a ref'), argument(args, 1, 'the id of an organization')),
      )
    default:
      throw new UsageError(`unknown command '${`${group} ${action}`.trim()}'`)
  }
}

async function listModels(): Promise<void> {
  for (const { id, availability, problem } of await openModelStore({ directory: modelFolder() }).list()) {
    process.stdout.write(`${id.padEnd(40)} ${availability}${problem === null ? '' : `: ${problem}`}\n`)
  }
}

async function pin(id: string, local: boolean): Promise<void> {
  const manifest = await pinModel({ directory: modelFolder(), id, fetcher: local ? null : fetcher() })
  process.stdout.write(`${resolve(modelFolder(), `${id}.json`)}: revision ${manifest.revision}\n`)
  for (const { path, size, sha256 } of manifest.files) process.stdout.write(`  ${path}  ${size} bytes  ${sha256}\n`)
}

async function fetchModel(id: string): Promise<void> {
  let shown = ''
  const model = await openModelStore({ directory: modelFolder(), fetcher: fetcher() }).acquire(id, {
    onProgress: ({ message = '' }) => {
      if (message !== shown) process.stdout.write(`${message}\n`)
      shown = message
    },
  })
  process.stdout.write(`${id}: ${model.bytes} bytes, sha256 ${model.sha256}\n`)
}

async function addOrganization(database: Database, name: string): Promise<void> {
  const id = randomUUID()
  await database.query('insert into terrane.organizations (id, name) values ($1, $2)', [id, name])
  process.stdout.write(`${id}\n`)
}

async function addKey(database: Database, organizationId: string, label: string): Promise<void> {
  const key = makeOpaqueKey('trn_services')
  await database.query('insert into terrane.services_keys (sha256, organization_id, label) values ($1, $2, $3)', [
    hashKey(key),
    organizationId,
    label,
  ])
  process.stdout.write(`${key}\n`)
  process.stderr.write(`Keep it: only its hash is stored (${hashKey(key).slice(0, 16)}…).\n`)
}

async function revokeKey(database: Database, prefix: string): Promise<void> {
  if (!/^[0-9a-f]{16,64}$/.test(prefix)) throw new UsageError('the first 16 or more hex digits of the hash are needed')
  const { rowCount } = await database.query(
    'update terrane.services_keys set revoked_at = now() where starts_with(sha256, $1) and revoked_at is null',
    [prefix],
  )
  if (!rowCount) throw new Error('there is no such key in use')
  process.stdout.write(`${rowCount} revoked\n`)
}

async function addProject(database: Database, ref: string, organizationId: string): Promise<void> {
  const key = parseSecretsKey(process.env['TERRANE_SECRETS_KEY'] ?? '')
  if (!key) throw new Error('TERRANE_SECRETS_KEY is not set to 32 bytes as hex or base64')
  const target = JSON.parse((await text(process.stdin)) || 'null') as { databaseUrl?: string } | null
  if (target !== null && !target.databaseUrl) throw new Error('the target on standard input has no databaseUrl')
  const sealed = target === null ? null : createSealer(key).seal(target, ref)
  await database.query(
    `insert into terrane.projects (ref, organization_id, sealed_target) values ($1, $2, $3)
     on conflict (ref) do update set sealed_target = excluded.sealed_target where terrane.projects.organization_id = excluded.organization_id`,
    [ref, organizationId, sealed],
  )
  process.stdout.write(`${ref}\n`)
}

async function withDatabase(work: (database: Database) => Promise<void>): Promise<void> {
  const url = process.env['DATABASE_URL']
  if (!url) throw new Error('DATABASE_URL is not set')
  await using database = await openDatabase({ url, max: 1, applicationName: 'terrane cli' })
  await migrate(database, ['control'])
  await work(database)
}

function fetcher() {
  const fetch = createGuardedFetch({
    allowHosts: splitList(process.env['TERRANE_FETCH_ALLOW_HOSTS'] ?? ''),
    allowHttp: process.env['TERRANE_FETCH_ALLOW_HTTP'] === 'true',
  })
  return modelFetcher(fetch, process.env['HF_TOKEN'])
}

function modelFolder(): string {
  return process.env['TERRANE_MODEL_DIR'] || '.terrane/models'
}

function argument(args: readonly string[], index: number, what: string): string {
  const value = args[index]
  if (value === undefined || value === '') throw new UsageError(`${what} is missing`)
  return value
}
