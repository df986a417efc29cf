import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startPgliteServer } from '@terrane/pglite-server'
import { announce } from './announce.ts'
import { appsOf, local } from './environments.ts'
import { writeTown } from './demo/town.ts'
import { KeptApp } from './kept-app.ts'
import { printLine } from './log.ts'
import type { Keys } from './keys.ts'
import { refuseTakenPorts } from './refuse-taken-ports.ts'
import type { Settings } from './settings.ts'

/** The running stack. */
export interface Stack extends AsyncDisposable {
  readonly workerUrl: string
  readonly originUrl: string
  readonly routerUrl: string
  readonly consoleUrl: string
  readonly functionsUrl: string
  readonly projectRef: string
  readonly databaseUrl: string
}

/** Starts database and apps in order, restarts apps that end; disposal stops them. @param signal aborts the start */
export async function startStack(settings: Settings, keys: Keys, signal?: AbortSignal): Promise<Stack> {
  await refuseTakenPorts(settings)
  await using opening = new AsyncDisposableStack()
  const { home, ports, projectRef } = settings
  const files = join(home, 'data')
  await mkdir(files, { recursive: true })
  const town = await writeTown(files)
  const dataRoots = [files, process.env['TERRANE_DATA_ROOTS']].filter(Boolean).join(',')
  const databaseUrl = settings.databaseUrl ?? (await startDatabase(settings, opening))
  const apps: KeptApp[] = []
  for (const [name, env] of appsOf(settings, keys, { town, dataRoots, databaseUrl }))
    apps.push(opening.use(await KeptApp.start(name, env, signal ?? new AbortController().signal)))
  opening.use(await announce(settings, keys, apps))

  const all = opening.move()
  return {
    workerUrl: local(ports.worker),
    originUrl: local(ports.origin),
    routerUrl: local(ports.router),
    consoleUrl: local(ports.console),
    functionsUrl: local(ports.functions),
    projectRef,
    databaseUrl,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function startDatabase(settings: Settings, opening: AsyncDisposableStack): Promise<string> {
  printLine('database', `starting the embedded database in ${join(settings.home, 'pglite')}`)
  const started = performance.now()
  const database = opening.use(
    await startPgliteServer({
      dataDir: join(settings.home, 'pglite'),
      port: settings.ports.database,
      sync: settings.databaseSync,
    }),
  )
  printLine('database', `ready after ${((performance.now() - started) / 1000).toFixed(1)} s`)
  return database.url
}
