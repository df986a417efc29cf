import {
  DEFAULT_ORGANIZATION,
  Keys,
  Organizations,
  Projects as RegisteredProjects,
  registerLocal,
} from '@terrane/control'
import { migrate, openDatabase, type Database } from '@terrane/database'
import { createLogger, createRegistry, createSealer, parseSecretsKey, readEdge, type Logger } from '@terrane/service'
import { Accounts } from './accounts/accounts.ts'
import type { HashCost } from './accounts/password.ts'
import type { AppDeps } from './app.ts'
import type { ConsoleConfig } from './config.ts'
import { secretsKeyMissing } from './errors.ts'
import { readBasemap } from './page/basemap.ts'
import { preparePage } from './page/prepare-page.ts'
import { Projects } from './projects/projects.ts'
import { trimmed } from './projects/worker-base.ts'
import { Sessions } from './sessions/sessions.ts'
import { SignInLimits } from './sessions/sign-in-limits.ts'

/** The open console; disposing of it closes everything in reverse order. */
export type Deps = AppDeps & AsyncDisposable

/**
 * Opens the control database, creates the first user and the local project if they do not exist, and builds the page.
 *
 * @param hashCost of passwords; tests take a lower one
 */
export async function openDeps(config: ConsoleConfig, hashCost?: HashCost): Promise<Deps> {
  await using opening = new AsyncDisposableStack()
  const logger = createLogger({ name: 'console', level: config.LOG_LEVEL })
  const database = opening.use(
    await openDatabase({
      url: config.DATABASE_URL,
      max: config.DATABASE_POOL_SIZE,
      applicationName: 'terrane console',
      onError: (error) => logger.warn({ err: error }, 'database connection lost'),
    }),
  )
  await migrate(database, ['control'])
  const accounts = new Accounts(database, hashCost)
  const local = config.TERRANE_MODE === 'local' ? await registerStack(config, database, logger) : null
  await makeFirst(config, database, accounts, logger)
  const sealer = openSealer(config)
  const pageDir = await preparePage(config.TERRANE_CONSOLE_PAGE_DIR, logger)

  const all = opening.move()
  return {
    logger,
    registry: createRegistry('console'),
    accounts,
    sessions: new Sessions(database, {
      idleMinutes: config.idleMinutes,
      hours: config.sessionHours,
    }),
    limits: new SignInLimits(database),
    cookie: { secure: config.TERRANE_CONSOLE_SECURE_COOKIES ?? config.TERRANE_MODE === 'shared' },
    projects: new Projects({
      registered: new RegisteredProjects(database, sealer),
      keys: sealer && new Keys(database, sealer),
      settings: config,
      local: local && { id: local.id, keys: localKeys(config) },
    }),
    keys: new Keys(database, sealer),
    pageDir,
    basemap: await readBasemap(config.basemap, config.basemapAttribution),
    readiness: { database: () => database.query('select 1') },
    bodyLimit: config.bodyLimitBytes,
    edge: readEdge(config),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Encrypts the keys of projects and organizations; null in a local console, which stores none. */
function openSealer(config: ConsoleConfig) {
  const key = config.TERRANE_SECRETS_KEY ? parseSecretsKey(config.TERRANE_SECRETS_KEY) : null
  if (key) return createSealer(key)
  if (config.TERRANE_MODE === 'local') return null
  throw secretsKeyMissing()
}

/** Registers the project of a local stack in the control plane, with the keys of its environment. */
async function registerStack(config: ConsoleConfig, database: Database, logger: Logger) {
  return registerLocal(
    database,
    {
      ref: config.TERRANE_PROJECT_REF,
      name: config.projectName,
      anonKey: config.TERRANE_ANON_KEY,
      serviceRoleKey: config.TERRANE_SERVICE_ROLE_KEY,
      servicesKey: config.TERRANE_SERVICES_KEY,
    },
    logger,
  )
}

async function makeFirst(config: ConsoleConfig, database: Database, accounts: Accounts, logger: Logger): Promise<void> {
  const { TERRANE_CONSOLE_EMAIL: email, TERRANE_CONSOLE_PASSWORD: password } = config
  if (!email || !password || !(await accounts.isEmpty())) return
  const user = await accounts.add({ email, password })
  if (!user) return
  await new Organizations(database).create('default', DEFAULT_ORGANIZATION)
  await accounts.addMember(user.email, DEFAULT_ORGANIZATION)
  logger.info({ email: user.email }, 'made the first user')
}

function localKeys(config: ConsoleConfig) {
  return {
    originUrl: config.TERRANE_PROJECT_URL,
    publicUrl: trimmed(config.TERRANE_PROJECT_PUBLIC_URL ?? config.TERRANE_PROJECT_URL),
    anonKey: config.TERRANE_ANON_KEY ?? null,
    serviceRoleKey: config.TERRANE_SERVICE_ROLE_KEY ?? null,
    servicesKey: config.TERRANE_SERVICES_KEY ?? null,
  }
}
