import { chmod, mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { migrate, openDatabase, type Database } from '@terrane/database'
import { splitList } from '@terrane/core'
import {
  createLogger,
  createRegistry,
  createSealer,
  readSecretsKey,
  RateLimits,
  type Logger,
  readEdge,
  showDisks,
} from '@terrane/service'
import type { AppDeps } from './app.ts'
import { ceilingsOf, type FunctionsConfig } from './config.ts'
import { openDeployed } from './control/open-deployed.ts'
import { DatabaseDoor } from './database/door.ts'
import { createEgress } from './egress/egress.ts'
import { hardenedRequired, secretsKeyMissing, sharedNeeds } from './errors.ts'
import { Functions } from './functions.ts'
import { Depths } from './gateway/depth.ts'
import { openGateway } from './gateway/open-gateway.ts'
import { LogBook } from './observe/log-book.ts'
import { FunctionMetrics } from './observe/metrics.ts'
import { createObserver } from './observe/observer.ts'
import { BuildCache } from './build/build-cache.ts'
import { writeBuildProgram } from './build/build-program.ts'
import { Builder } from './build/builder.ts'
import { openImports } from './build/open-imports.ts'
import { Capacity } from './pool/capacity.ts'
import { InstanceFactory } from './pool/factory.ts'
import { issueKeys } from './pool/instance-keys.ts'
import { readPolicy } from './policy.ts'
import { openProjects } from './projects/open-projects.ts'
import { probeRuntime } from './runtime/probe.ts'
import { isReachable, reachableTwin } from './runtime/reachable.ts'
import { ServedFunctions } from './registry/served-functions.ts'
import { openFolder } from './sources/open-folder.ts'
import { VersionStore } from './version-store.ts'

const KEYS_UNKNOWN = 'SUPABASE_JWKS is not set: the key set of the project cannot be fetched'

/** The open host; disposing of it ends every instance and closes everything in reverse order. */
export interface Deps extends AppDeps, AsyncDisposable {
  /** Ends streams that would keep connections open, and waits for running calls. */
  drain(budgetMs: number): Promise<void>
}

/**
 * Opens the runtime, the instances' host, and the functions: a folder, a registry, or both.
 *
 * @param env PATH for setpriv and bubblewrap, and the variables for reaching registries
 * @param checkTypes false in tests that are not about the types of a folder, whose check takes seconds of CPU time
 * @throws FUNCTION_HARDENED_REQUIRED, FUNCTION_RUNTIME_UNAVAILABLE and others that name the missing part
 */
export async function openDeps(config: FunctionsConfig, env: NodeJS.ProcessEnv, checkTypes = true): Promise<Deps> {
  if (config.TERRANE_MODE === 'shared') checkShared(config)
  await using opening = new AsyncDisposableStack()
  const base = await openBase(config, env['PATH'] ?? '', opening)
  const { logger, logBook, registry, metrics, projects, database, stateDir, edge } = base
  const factory = await openFactory(base)
  const store = opening.use(
    new VersionStore(join(stateDir, 'versions'), factory, (...left) => logLeft(logger, ...left)),
  )
  const builder = await openBuilder(base, env)
  const capacity = new Capacity(config.TERRANE_FUNCTIONS_INSTANCES)
  const functions = opening.use(new Functions(factory, capacity, base.observer))
  metrics.watch(functions, capacity, factory.spares)

  const lost = (error: unknown) => logger.warn({ err: error }, 'crons of functions in the folder cannot be recorded')
  const own = base.registryIds.toRegistry(config.TERRANE_PROJECT_REF)
  const served = database && new ServedFunctions(database, own, lost)
  const folder = await openFolder(config, { projects, functions, factory, builder, logBook, served, checkTypes })
  if (folder) opening.use(folder)
  // Without a folder, functions that an earlier process served from one are removed.
  else if (config.TERRANE_MODE !== 'shared') await served?.keep([])
  const deployed = database
    ? await openDeployed(config, { ...base, database, functions, store, builder, folder })
    : null
  if (deployed) opening.use(deployed.source)
  const { gateway, bodies } = openGateway(config, base, functions, (project, name) => {
    return folder?.find(project, name) ?? deployed?.source.find(project, name)
  })
  opening.use(bodies)
  opening.use(gateway)
  const all = opening.move()
  return {
    logger,
    registry,
    edge,
    gateway,
    control: {
      typesOf: (name) => folder?.typesOf(name) ?? null,
      projects,
      functions,
      logBook,
      metrics,
      deployed,
      limits: new RateLimits(edge),
    },
    readiness: database ? { database: () => database.query('select 1') } : {},
    async drain(budgetMs) {
      logBook.close()
      gateway.closeSockets()
      await functions.drain(budgetMs)
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Parts of the host that all others use. */
type Base = Awaited<ReturnType<typeof openBase>>

async function openBase(config: FunctionsConfig, path: string, opening: AsyncDisposableStack) {
  const logger = createLogger({ name: 'functions', level: config.LOG_LEVEL, byTurn: true })
  const registry = createRegistry('functions')
  const logBook = new LogBook(logger)
  const metrics = new FunctionMetrics(registry)
  const stateDir = await openStateDir(config, logger)
  showDisks(registry, { state: stateDir })
  const probed = await openRuntime(config, stateDir, path, logger)
  const database = config.DATABASE_URL === undefined ? null : opening.use(await openRegistryDatabase(config, logger))
  const key = readSecretsKey(config)
  if (key === null) throw secretsKeyMissing()
  const sealer = createSealer(key)
  return {
    config,
    opening,
    logger,
    registry,
    logBook,
    metrics,
    observer: createObserver(logBook, metrics),
    stateDir,
    probed,
    database,
    sealer,
    ...(await openProjects(config, { database, sealer, logger, opening })),
    depths: new Depths(key.toString('hex')),
    edge: readEdge(config),
  }
}

/** Opens the egress of functions and the runtime that starts their instances. */
async function openFactory(base: Base): Promise<InstanceFactory> {
  const { config, opening, logger, logBook, observer, projects, depths } = base
  const database = opening.use(
    new DatabaseDoor({
      urlOf: (id) => projects.get(id)?.databaseUrl ?? null,
      sessions: config.databaseSessions,
      depths,
      onFailed: ({ project, name }, error) =>
        logger.error({ project, function: name, err: error }, 'database of a project cannot be used'),
    }),
  )
  const door = opening.use(
    createEgress({
      addressOf: (ref) => projects.get(ref),
      depths,
      fetchPolicy: { allowHosts: splitList(config.TERRANE_FETCH_ALLOW_HOSTS) },
      database,
      onRefused: (version, text, requestId) => logBook.event('warn', version, text, {}, requestId),
    }),
  )
  const factory = await InstanceFactory.open({
    ...base.probed,
    door,
    bootMs: config.bootTimeoutMs,
    spares: {
      // The shim for Node does not change its working directory.
      count: base.probed.runtime.name === 'deno' ? config.spares : 0,
      memoryMb: readPolicy({}, ceilingsOf(config)).memory_mb,
      cacheDir: base.probed.shimCache,
    },
    issueKeys: issueKeys(
      (ref) => projects.get(ref),
      (version, error) => logBook.event('warn', version, KEYS_UNKNOWN, { reason: (error as Error).message }),
    ),
    onUsage: (version, cpuSeconds, memoryMb) => base.metrics.used(version, cpuSeconds, memoryMb),
    onLine: (version, line, requestId) => observer.line(version, line, requestId),
    onLeft: (...left) => logLeft(logger, ...left),
  })
  return opening.use(factory)
}

function logLeft(logger: Logger, path: string, error: unknown): void {
  logger.warn({ path, err: error }, 'files could not be removed')
}

async function openBuilder({ config, opening, stateDir }: Base, env: NodeJS.ProcessEnv): Promise<Builder> {
  const hosts = splitList(config.TERRANE_FUNCTIONS_IMPORT_HOSTS)
  return opening.use(
    new Builder({
      program: await writeBuildProgram(stateDir),
      parallel: config.builds,
      cache: new BuildCache(join(stateDir, 'builds')),
      imports: await openImports(join(stateDir, 'imports'), hosts, env, config.importTimeoutMs),
    }),
  )
}

function checkShared(config: FunctionsConfig): void {
  if (config.TERRANE_FUNCTIONS_PROFILE !== 'hardened' || config.TERRANE_FUNCTIONS_RUNTIME === 'node')
    throw hardenedRequired()
  const needed = ['DATABASE_URL', 'TERRANE_FUNCTIONS_DOMAIN', 'TERRANE_SECRETS_KEY'] as const
  const missing = needed.filter((name) => config[name] === undefined)
  if (missing.length > 0) throw sharedNeeds({ names: missing })
}

async function openRuntime(config: FunctionsConfig, stateDir: string, path: string, logger: Logger) {
  const isRoot = process.getuid?.() === 0
  const users = { first: config.firstUser, count: config.TERRANE_FUNCTIONS_INSTANCES + config.spares + 16 }
  const probed = await probeRuntime({
    runtime: config.TERRANE_FUNCTIONS_RUNTIME,
    profile: config.TERRANE_FUNCTIONS_PROFILE,
    stateDir,
    users: isRoot ? users : null,
    path,
  })
  const { name, profile, caveat } = probed.runtime
  logger.info({ runtime: name, profile, users: probed.users?.first ?? null }, 'runtime ready')
  logger.info({ profile, caveat }, 'this profile does not protect against')
  return probed
}

/**
 * The folder of versions and caches. On a host that runs as root, its functions are other users and must be able to
 * read it.
 */
async function openStateDir(config: FunctionsConfig, logger: Logger): Promise<string> {
  const wanted = resolve(config.TERRANE_HOME, 'functions')
  await mkdir(wanted, { recursive: true })
  if (process.getuid?.() !== 0) return wanted
  const stateDir = (await isReachable(wanted)) ? wanted : await reachableTwin(wanted)
  if (stateDir !== wanted)
    logger.info({ stateDir }, 'users of functions cannot pass to TERRANE_HOME; their versions are here')
  await chmod(stateDir, 0o755)
  return stateDir
}

async function openRegistryDatabase(config: FunctionsConfig, logger: Logger): Promise<Database> {
  const database = await openDatabase({
    url: config.DATABASE_URL!,
    applicationName: 'terrane functions',
    onError: (error) => logger.warn({ err: error }, 'database connection lost'),
  })
  const applied = await migrate(database, ['control'])
  if (applied.length > 0) logger.info({ applied }, 'migrated')
  return database
}
