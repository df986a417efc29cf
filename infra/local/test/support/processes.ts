import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writePbf } from '@terrane/osm'
import { buildCity } from '@terrane/testing/city'
import { compileCache } from '@terrane/testing/compile-cache'

/** A route as its app lists it. */
export interface AppRoute {
  readonly method: string
  readonly url: string
  readonly body: unknown
}

/** An app in a separate process, started by its `main.ts`. */
export interface AppProcess {
  readonly name: string
  readonly url: string
  readonly routes: readonly AppRoute[]
  /** True while the process runs. */
  readonly isAlive: boolean
  /** Makes the process collect its garbage. */
  collect(): Promise<void>
}

/** Lets a parent ask for a collection of garbage, so that memory can be compared. */
const COLLECTS = `process.on('message', (m) => { if (m === 'collect') { gc(); gc(); process.send('collected') } })`

/** Starts `apps/{name}/src/main.ts` on a free port; it is stopped when `opened` is disposed of. */
export async function startApp(
  opened: AsyncDisposableStack,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<AppProcess> {
  const child = fork(fileURLToPath(new URL(`../../../../apps/${name}/src/main.ts`, import.meta.url)), {
    execArgv: ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(COLLECTS)}`],
    // oxlint-disable-next-line node/no-process-env -- Programs are looked up on PATH.
    env: { ...compileCache, PATH: process.env['PATH'] ?? '', PORT: '0', LOG_LEVEL: 'fatal', ...env },
  })
  const ended = once(child, 'exit')
  opened.defer(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const answer = async <M>(is: (message: unknown) => boolean): Promise<M> => {
    for (;;) {
      const [message] = (await Promise.race([once(child, 'message'), ended])) as unknown[]
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
      if (is(message)) return message as M
    }
  }
  const { url, routes } = await answer<AppProcess>((message) => typeof message === 'object')
  return {
    name,
    url,
    routes,
    get isAlive() {
      return child.exitCode === null && child.signalCode === null
    },
    collect: async () => {
      const collected = answer((message) => message === 'collected')
      child.send('collect')
      await collected
    },
  }
}

/** Files for a router with a small town: an extract, and the path of its graph. */
export async function townFor(folder: string): Promise<Record<string, string>> {
  const path = join(folder, 'town.osm.pbf')
  await writeFile(path, writePbf(buildCity().elements))
  return {
    TERRANE_ROUTING_OSM: path,
    TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin'),
    TERRANE_ROUTING_THREADS: '1',
  }
}

/** A folder with a built page for a console. */
export async function pageFor(folder: string): Promise<string> {
  const page = join(folder, 'page')
  await mkdir(page)
  await writeFile(join(page, 'index.html'), '<!doctype html><title>Terrane</title>')
  return page
}

/** Writes functions as `name → [policy, code]` and returns their folder. */
export async function functionsFor(
  folder: string,
  sources: Readonly<Record<string, readonly [policy: object, code: string]>>,
): Promise<string> {
  for (const [name, [policy, code]] of Object.entries(sources)) {
    await mkdir(join(folder, 'functions', name), { recursive: true })
    await writeFile(join(folder, 'functions', name, 'function.json'), JSON.stringify(policy))
    await writeFile(join(folder, 'functions', name, 'index.ts'), code)
  }
  return join(folder, 'functions')
}
