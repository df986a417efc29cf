import { execFile, type ExecFileException } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, realpath, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Bundle } from '../bundle.ts'
import { bundleFailed } from '../errors.ts'
import type { BundleFailure } from '../failure.ts'
import { lockFiles, readCodeSettings, type CodeSettings } from '../settings/code-settings.ts'
import { BOUNDED, keptAsMissing, reasonOf, retryOf } from './fetch-process.ts'
import { readModuleGraph, problemsOf, type DenoInfo, type ModuleGraph } from './module-graph.ts'
import { GLOBALS, readTypes, type TypeCheck } from './type-check.ts'

const DEFAULT_TIMEOUT_MS = 120_000
const TYPES_CONFIG = 'types.json'
/** Runs the command at the lowest priority from its start, because threads keep the priority they start with. */
const LAST = ['/bin/sh', '-c', 'exec nice -n 19 "$0" "$@"']
/** Maximum modules that one fetch requests again. */
const MOST_MISSING = 20
const MAX_ANSWER_BYTES = 64 * 1024 * 1024
/** Environment variables that tell Deno how to reach registries. */
const NETWORK_VARIABLES = [
  'HOME',
  'PATH',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NPM_CONFIG_REGISTRY',
  'JSR_URL',
  'DENO_CERT',
  'DENO_TLS_CA_STORE',
  'DENO_AUTH_TOKENS',
]

export interface DenoImportsOptions {
  /** Path of the deno binary. */
  readonly deno: string
  /** Folder for fetched files; created when it is needed. */
  readonly home: string
  /** `host` or `host:port` that code may be imported from, beside the npm registry; with none, nothing is fetched. */
  readonly hosts: readonly string[]
  /** Name of the setting that lists the hosts, for errors; absent: `hosts`. */
  readonly hostsSetting?: string
  /** Environment with proxies, registries and certificates. */
  readonly env: NodeJS.ProcessEnv
  /** Maximum time of a fetch in milliseconds; absent: 120,000. */
  readonly timeoutMs?: number
  /** Runs the fetch of a folder when it is its turn; absent: at once. */
  readonly turn?: <T>(folder: string, fetch: () => Promise<T>) => Promise<T>
}

/**
 * Fetches the imports of functions from npm, JSR and URLs, and locks the versions. Deno resolves and fetches; the bundler
 * then reads files. Fetched code is never run, not even install scripts. Versions come from the `deno.lock` beside the
 * function or in the functions folder, or from the first fetch.
 *
 * @example
 * ```ts
 * using imports = new DenoImports({ deno, home: '.cache/imports', hosts: ['jsr.io'], hostsSetting: 'IMPORT_HOSTS', env: {} })
 * const { code } = await bundleFolder('functions/hello', await imports.fetch('functions/hello'))
 * ```
 */
export class DenoImports implements Disposable {
  readonly #options: DenoImportsOptions
  readonly #ending = new AbortController()
  /** The latest unfinished fetch of each folder. */
  readonly #fetching = new Map<string, Promise<unknown>>()
  #lastCheck: Promise<unknown> = Promise.resolve()

  constructor(options: DenoImportsOptions) {
    this.#options = options
  }

  /** Fetches the imports in a folder, one fetch at a time. @throws FUNCTION_BUNDLE_FAILED with Deno's message */
  fetch(folder: string): Promise<ModuleGraph> {
    const before = this.#fetching.get(folder) ?? Promise.resolve()
    const { turn = (_folder, fetch) => fetch() } = this.#options
    const done = before.then(() => turn(folder, () => this.#fetch(folder)))
    const over = done
      .finally(() => {
        if (this.#fetching.get(folder) === over) this.#fetching.delete(folder)
      })
      .catch(() => {})
    this.#fetching.set(folder, over)
    return done
  }

  /** Cancels running fetches. Nothing is fetched afterwards. */
  [Symbol.dispose](): void {
    this.#ending.abort(new Error('the host is stopping'))
  }

  /**
   * Checks the types of the function in a folder with the files on disk; fetches nothing. Checks run one after the
   * other and wait for running fetches. Fetches do not wait for checks.
   *
   * @param quiet given when no caller waits: the check starts after it settles, at the lowest priority
   */
  types(folder: string, quiet?: () => Promise<void>): Promise<TypeCheck> {
    const done = this.#lastCheck
      .then(quiet)
      .then(() => Promise.all(this.#fetching.values()))
      .then(() => this.#types(folder, quiet ? LAST : []))
    this.#lastCheck = done.catch(() => {})
    return done
  }

  async #types(folder: string, before: readonly string[]): Promise<TypeCheck> {
    const { real, place } = await this.#place(folder)
    const fetched = await stat(join(place, 'node_modules')).catch(() => null)
    // Without fetched modules, packages are those of the folder itself.
    await this.#describe(place, real, fetched ? 'auto' : 'manual', TYPES_CONFIG)
    const look = [
      'check',
      `--config=${TYPES_CONFIG}`,
      '--cached-only',
      `--allow-import=${this.#options.hosts.join(',') || 'none.invalid'}`,
      'entry.ts',
    ]
    try {
      await this.#spawn(place, look, before)
      return { errors: [], unchecked: null }
    } catch (error) {
      this.#ending.signal.throwIfAborted()
      const { stderr = '', killed = false } = error as { stderr?: string; killed?: boolean }
      return killed ? { errors: [], unchecked: 'it took too long' } : readTypes(stderr, real)
    }
  }

  async #place(folder: string): Promise<{ real: string; place: string }> {
    this.#ending.signal.throwIfAborted()
    const real = await realpath(folder)
    const place = join(this.#options.home, createHash('sha256').update(real).digest('hex').slice(0, 32))
    await mkdir(place, { recursive: true })
    return { real, place }
  }

  async #fetch(folder: string): Promise<ModuleGraph> {
    this.#ending.signal.throwIfAborted()
    const { hosts, hostsSetting = 'hosts' } = this.#options
    if (hosts.length === 0) throw bundleFailed({ problems: [`this host fetches no code: ${hostsSetting} is empty`] })
    const { real, place } = await this.#place(folder)
    await this.#describe(place, real, 'auto', 'deno.json')
    const allowed = `--allow-import=${hosts.join(',')}`
    await this.#install(place, allowed)
    const info = JSON.parse(await this.#run(place, ['info', '--json', allowed, 'entry.ts'])) as DenoInfo
    const problems = problemsOf(info)
    if (problems.length > 0) throw bundleFailed({ problems })
    return readModuleGraph(info)
  }

  /** Installs imported modules. Deno caches that a module was not found, so such a module is requested again. */
  async #install(place: string, allowed: string): Promise<void> {
    const missing = new Set<string>()
    for (;;) {
      const reload = missing.size === 0 ? [] : [`--reload=${[...missing].join(',')}`]
      try {
        return void (await this.#run(place, ['install', '--entrypoint', allowed, ...reload, 'entry.ts']))
      } catch (error) {
        const url = keptAsMissing(error)
        if (url === null || missing.has(url) || missing.size >= MOST_MISSING) throw error
        missing.add(url)
      }
    }
  }

  /** Writes Deno's input: an entry that imports the function, its configuration, and its lock file. */
  async #describe(place: string, folder: string, packages: 'auto' | 'manual', name: string): Promise<void> {
    const settings = await readCodeSettings(folder)
    const entry = pathToFileURL(join(folder, settings.entry)).href
    await writeFile(join(place, 'entry.ts'), `import ${JSON.stringify(entry)}\n`)
    const config = denoConfig(settings, packages)
    await writeFile(join(place, name), JSON.stringify(config))
    await writeFile(join(place, 'globals.d.ts'), GLOBALS)
    for (const lock of lockFiles(folder)) {
      const copied = await copyFile(lock, join(place, 'deno.lock')).then(
        () => true,
        () => false,
      )
      if (copied) return
    }
  }

  /** @throws FUNCTION_BUNDLE_FAILED with Deno's message */
  async #run(place: string, args: readonly string[]): Promise<string> {
    try {
      return await this.#spawn(place, args, BOUNDED)
    } catch (error) {
      this.#ending.signal.throwIfAborted()
      const failure = error as ExecFileException
      const { hostsSetting = 'hosts', timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options
      throw bundleFailed({ problems: [reasonOf(failure, { hostsSetting, timeoutMs })] }, { cause: failure })
    }
  }

  async #spawn(place: string, args: readonly string[], before: readonly string[] = []): Promise<string> {
    const env: Record<string, string> = {
      DENO_DIR: join(this.#options.home, 'cache'),
      DENO_NO_UPDATE_CHECK: '1',
      NO_COLOR: '1',
    }
    for (const name of NETWORK_VARIABLES) if (this.#options.env[name] !== undefined) env[name] = this.#options.env[name]
    const { timeoutMs: timeout = DEFAULT_TIMEOUT_MS } = this.#options
    const bounds = { timeout, maxBuffer: MAX_ANSWER_BYTES, killSignal: 'SIGKILL' as const }
    const options = { cwd: place, env, signal: this.#ending.signal, ...bounds }
    const [program = '', ...rest] = [...before, this.#options.deno, ...args]
    return new Promise((resolve, reject) => {
      execFile(program, rest, options, (error, stdout, stderr) => {
        if (error) reject(Object.assign(error, { stderr }))
        else resolve(stdout)
      })
    })
  }
}

/**
 * Bundles a function from files on disk. Where something is missing that can be fetched, fetches it and bundles again.
 *
 * @param fetch null where nothing is fetched
 * @throws FUNCTION_BUNDLE_FAILED
 */
export async function withImports(
  bundle: (fetched: ModuleGraph | null) => Promise<Bundle>,
  fetch: (() => Promise<ModuleGraph>) | null,
): Promise<Bundle> {
  try {
    return await bundle(null)
  } catch (error) {
    const failure = (error as Error).cause as BundleFailure | undefined
    if (!fetch || !failure?.fetchable) throw error
    let fetched: ModuleGraph
    try {
      fetched = await fetch()
    } catch (unfetched) {
      const problems = [detailsOf(unfetched), detailsOf(error)].join('\n').split('\n')
      throw bundleFailed({ problems }, { cause: { ...failure, ...retryOf(unfetched) } })
    }
    return bundle(fetched)
  }
}

function detailsOf(error: unknown): string {
  const { details, message } = error as { details?: string; message: string }
  return details ?? message
}

function denoConfig({ imports, jsx, experimentalDecorators }: CodeSettings, packages: 'auto' | 'manual'): unknown {
  const map = Object.entries(imports).map(([name, target]) => [
    name,
    target.startsWith('/') ? pathToFileURL(target).href : target,
  ])
  return {
    imports: Object.fromEntries(map) as Record<string, string>,
    nodeModulesDir: packages,
    // The bundler finds `./other` without its extension too.
    unstable: ['sloppy-imports'],
    compilerOptions: {
      types: ['./globals.d.ts'],
      ...(experimentalDecorators && { experimentalDecorators }),
      ...(jsx && { jsx: jsx.jsx === 'automatic' ? 'react-jsx' : 'react' }),
      ...(jsx?.jsxImportSource !== undefined && { jsxImportSource: jsx.jsxImportSource }),
    },
  }
}
