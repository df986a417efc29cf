import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { TerraneError, splitList } from '@terrane/core'
import type { CheckedModel } from '@terrane/embeddings'

// Each command loads what it needs: all of it takes a second.
const USAGE = `Usage: node apps/worker/src/cli.ts <command>

Models (TERRANE_MODEL_DIR, default models in TERRANE_HOME, .terrane; HF_TOKEN for gated ones):
  models list                  what there is, and what is missing
  models pin <id> [--local]    write revision, sizes and checksums into <id>.json; --local from the files in place
  models fetch <id>            download and verify a model now
  models check <file.onnx>     run one tile, by the manifest beside the file; draft one where there is none
  models add <file.onnx>       check it, and put it into the model directory

Database (DATABASE_URL, TERRANE_MODE):
  migrate                      bring it up to this version, as apps do when they start

Organizations, projects and keys: terrane org, terrane project, terrane key.
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
  switch (`${group} ${action}`.trim()) {
    case 'migrate':
      return migrateDatabase()
    case 'models list':
      return listModels()
    case 'models pin':
      return pin(argument(args, 0, 'the id of a model'), local)
    case 'models check':
      return checkModel(argument(args, 0, 'the path of an ONNX file'))
    case 'models add':
      return addToStore(argument(args, 0, 'the path of an ONNX file'))
    case 'models fetch':
      return fetchModel(argument(args, 0, 'the id of a model'))
    default:
      throw new UsageError(`unknown command '${`${group} ${action}`.trim()}'`)
  }
}

async function migrateDatabase(): Promise<void> {
  const { DATABASE_URL: url, TERRANE_MODE: mode } = process.env
  if (!url) throw new UsageError('DATABASE_URL is not set')
  const [{ migrate, openDatabase }, { startBoss }, { createLogger }] = await Promise.all([
    import('@terrane/database'),
    import('./queue/boss.ts'),
    import('@terrane/service'),
  ])
  await using database = await openDatabase({ url, max: 2, applicationName: 'terrane migrations', onError() {} })
  const applied = await migrate(database, mode === 'shared' ? ['control'] : ['control', 'project'])
  const boss = await startBoss(database, createLogger({ name: 'migrations', level: 'warn' }))
  await boss.stop({ graceful: false, close: false })
  process.stdout.write(applied.length === 0 ? 'nothing to apply\n' : `applied ${applied.join(', ')}\n`)
}

async function listModels(): Promise<void> {
  const { openModelStore } = await import('@terrane/embeddings')
  for (const { id, availability, problem } of await openModelStore({ directory: modelFolder() }).list()) {
    process.stdout.write(`${id.padEnd(40)} ${availability}${problem === null ? '' : `: ${problem}`}\n`)
  }
}

async function pin(id: string, local: boolean): Promise<void> {
  const { pinModel } = await import('@terrane/embeddings')
  const manifest = await pinModel({ directory: modelFolder(), id, fetcher: local ? null : await fetcher() })
  process.stdout.write(`${resolve(modelFolder(), `${id}.json`)}: revision ${manifest.revision}\n`)
  for (const { path, size, sha256 } of [...manifest.files, ...(manifest.text?.files ?? [])])
    process.stdout.write(`  ${path}  ${size} bytes  ${sha256}\n`)
}

async function fetchModel(id: string): Promise<void> {
  const { openModelStore } = await import('@terrane/embeddings')
  let shown = ''
  const model = await openModelStore({ directory: modelFolder(), fetcher: await fetcher() }).acquire(id, {
    onProgress: ({ message = '' }) => {
      if (message !== shown) process.stdout.write(`${message}\n`)
      shown = message
    },
  })
  process.stdout.write(`${id}: ${model.bytes} bytes, sha256 ${model.sha256}\n`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function checkModel(file: string): Promise<void> {
  const { checkModelFile, readManifest } = await import('@terrane/embeddings')
  const path = resolve(file)
  const beside = `${path.replace(/\.onnx$/i, '')}.json`
  const given = await readManifest(beside)
  const checked = await checkModelFile(path, given)
  tell(checked)
  if (given) return say(`by ${beside}; to use it: terrane models add ${file}`)
  await writeFile(beside, `${JSON.stringify(checked.manifest, null, 2)}\n`, { flag: 'wx' })
  say(`draft: ${beside}`)
  say(`to use it: correct the draft, then terrane models add ${file}`)
}

async function addToStore(file: string): Promise<void> {
  const { addModel, readManifest } = await import('@terrane/embeddings')
  const path = resolve(file)
  const directory = modelFolder()
  const checked = await addModel({
    directory,
    path,
    manifest: await readManifest(`${path.replace(/\.onnx$/i, '')}.json`),
  })
  tell(checked)
  say(`${checked.manifest.id} is in ${directory}: terrane embed scene.tif --model ${checked.manifest.id}`)
}

function tell({ manifest, notes, embedding, milliseconds }: CheckedModel): void {
  say(`one tile: ${embedding.length} numbers in ${Math.round(milliseconds)} ms by ${manifest.outputs[0]!.name}`)
  for (const note of notes) say(`look at: ${note}`)
}

async function fetcher() {
  const [{ createGuardedFetch }, { modelFetcher }] = await Promise.all([
    import('@terrane/service'),
    import('./jobs/create-geo-embeddings/model-fetcher.ts'),
  ])
  const fetch = createGuardedFetch({
    allowHosts: splitList(process.env['TERRANE_FETCH_ALLOW_HOSTS'] ?? ''),
    allowHttp: process.env['TERRANE_FETCH_ALLOW_HTTP'] === 'true',
  })
  return modelFetcher(fetch, process.env['HF_TOKEN'])
}

function modelFolder(): string {
  // The local stack keeps its models in its home, wherever that is.
  return process.env['TERRANE_MODEL_DIR'] || join(process.env['TERRANE_HOME'] || '.terrane', 'models')
}

function argument(args: readonly string[], index: number, what: string): string {
  const value = args[index]
  if (value === undefined || value === '') throw new UsageError(`${what} is missing`)
  return value
}
