import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { TerraneError, splitList } from '@terrane/core'
import type { CheckedModel } from '@terrane/embeddings'

// Each command loads only the modules that it needs, because loading all of them takes a second.
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

/** Environment and output of a command. */
interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: (text: string) => unknown
  readonly stderr: (text: string) => unknown
}

/** Runs a command line; returns the exit code: 0 success, 1 failure, 2 usage error. */
export async function runCommand(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { stdout, stderr } = surroundings
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { local: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    })
    if (values.help || positionals.length === 0) stdout(USAGE)
    else await new Commands(surroundings).run(positionals, values.local ?? false)
    return 0
  } catch (error) {
    const isUsage = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
    stderr(`${(error as Error).message}\n`)
    if (error instanceof TerraneError && error.hint) stderr(`${error.hint}\n`)
    if (isUsage) stderr(USAGE)
    return isUsage ? 2 : 1
  }
}

class Commands {
  readonly #env: Surroundings['env']
  readonly #stdout: Surroundings['stdout']

  constructor({ env, stdout }: Surroundings) {
    this.#env = env
    this.#stdout = stdout
  }

  async run([group = '', action = '', ...args]: string[], local: boolean): Promise<void> {
    switch (`${group} ${action}`.trim()) {
      case 'migrate':
        return this.#migrateDatabase()
      case 'models list':
        return this.#listModels()
      case 'models pin':
        return this.#pin(argument(args, 0, 'the id of a model'), local)
      case 'models check':
        return this.#checkModel(argument(args, 0, 'the path of an ONNX file'))
      case 'models add':
        return this.#addToStore(argument(args, 0, 'the path of an ONNX file'))
      case 'models fetch':
        return this.#fetchModel(argument(args, 0, 'the id of a model'))
      default:
        throw new UsageError(`unknown command '${`${group} ${action}`.trim()}'`)
    }
  }

  async #migrateDatabase(): Promise<void> {
    const { DATABASE_URL: url, TERRANE_MODE: mode } = this.#env
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
    this.#stdout(applied.length === 0 ? 'nothing to apply\n' : `applied ${applied.join(', ')}\n`)
  }

  async #listModels(): Promise<void> {
    const { openModelStore } = await import('@terrane/embeddings')
    for (const { id, availability, problem } of await openModelStore({ directory: this.#modelFolder() }).list()) {
      this.#stdout(`${id.padEnd(40)} ${availability}${problem === null ? '' : `: ${problem}`}\n`)
    }
  }

  async #pin(id: string, local: boolean): Promise<void> {
    const { pinModel } = await import('@terrane/embeddings')
    const manifest = await pinModel({
      directory: this.#modelFolder(),
      id,
      fetcher: local ? null : await this.#fetcher(),
    })
    this.#stdout(`${resolve(this.#modelFolder(), `${id}.json`)}: revision ${manifest.revision}\n`)
    for (const { path, size, sha256 } of [...manifest.files, ...(manifest.text?.files ?? [])])
      this.#stdout(`  ${path}  ${size} bytes  ${sha256}\n`)
  }

  async #fetchModel(id: string): Promise<void> {
    const { openModelStore } = await import('@terrane/embeddings')
    let shown = ''
    const model = await openModelStore({ directory: this.#modelFolder(), fetcher: await this.#fetcher() }).acquire(id, {
      onProgress: ({ message = '' }) => {
        if (message !== shown) this.#stdout(`${message}\n`)
        shown = message
      },
    })
    this.#stdout(`${id}: ${model.bytes} bytes, sha256 ${model.sha256}\n`)
  }

  #say(line: string): void {
    this.#stdout(`${line}\n`)
  }

  async #checkModel(file: string): Promise<void> {
    const { checkModelFile, readManifest } = await import('@terrane/embeddings')
    const path = resolve(file)
    const beside = `${path.replace(/\.onnx$/i, '')}.json`
    const given = await readManifest(beside)
    const checked = await checkModelFile(path, given)
    this.#tell(checked)
    if (given) return this.#say(`by ${beside}; to use it: terrane models add ${file}`)
    await writeFile(beside, `${JSON.stringify(checked.manifest, null, 2)}\n`, { flag: 'wx' })
    this.#say(`draft: ${beside}`)
    this.#say(`to use it: correct the draft, then terrane models add ${file}`)
  }

  async #addToStore(file: string): Promise<void> {
    const { addModel, readManifest } = await import('@terrane/embeddings')
    const path = resolve(file)
    const directory = this.#modelFolder()
    const checked = await addModel({
      directory,
      path,
      manifest: await readManifest(`${path.replace(/\.onnx$/i, '')}.json`),
    })
    this.#tell(checked)
    this.#say(`${checked.manifest.id} is in ${directory}: terrane embed scene.tif --model ${checked.manifest.id}`)
  }

  #tell({ manifest, notes, embedding, milliseconds }: CheckedModel): void {
    this.#say(`one tile: ${embedding.length} numbers in ${Math.round(milliseconds)} ms by ${manifest.outputs[0]!.name}`)
    for (const note of notes) this.#say(`look at: ${note}`)
  }

  async #fetcher() {
    const [{ createGuardedFetch }, { modelFetcher }] = await Promise.all([
      import('@terrane/service'),
      import('./jobs/create-geo-embeddings/model-fetcher.ts'),
    ])
    const fetch = createGuardedFetch({
      allowHosts: splitList(this.#env['TERRANE_FETCH_ALLOW_HOSTS'] ?? ''),
      allowHttp: this.#env['TERRANE_FETCH_ALLOW_HTTP'] === 'true',
    })
    return modelFetcher(fetch, this.#env['HF_TOKEN'])
  }

  #modelFolder(): string {
    // The local stack keeps its models in its home folder.
    return this.#env['TERRANE_MODEL_DIR'] || join(this.#env['TERRANE_HOME'] || '.terrane', 'models')
  }
}

function argument(args: readonly string[], index: number, what: string): string {
  const value = args[index]
  if (value === undefined || value === '') throw new UsageError(`${what} is missing`)
  return value
}
