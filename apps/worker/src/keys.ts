import { createVerifier, type Verify } from '@terrane/auth'
import { openKeyring, registerLocal, type OpenKeyring, type Project } from '@terrane/control'
import type { Database } from '@terrane/database'
import type { Logger } from '@terrane/service'
import type { WorkerConfig } from './config.ts'

/** Who may come in: the control plane's keys, and in local mode tokens of the project as well. */
export interface Door extends OpenKeyring {
  readonly verify: Verify
}

export function openDoor(config: WorkerConfig, database: Database, logger: Logger): Door {
  const opened = openKeyring({
    connect: () => Promise.resolve(database),
    cacheMs: config.TERRANE_KEYS_CACHE_MS,
    graceMs: config.TERRANE_KEYS_GRACE_MS,
    onLost: (error) => logger.warn({ err: error }, 'keys cannot be followed'),
  })
  const { TERRANE_MODE: mode, TERRANE_PROJECT_REF: projectRef, TERRANE_JWT_SECRET: jwtSecret } = config
  const verify = createVerifier({
    findStoredKey: (sha256) => opened.keyring.find(sha256),
    ...(mode === 'local' && jwtSecret && { trust: { projectRef, jwtSecret } }),
  })
  return { ...opened, verify }
}

/** Has the control plane accept the keys of a local stack's environment, and end those that it named before. */
export async function registerStack(config: WorkerConfig, database: Database, logger: Logger): Promise<Project> {
  const { project, revoked } = await registerLocal(database, {
    ref: config.TERRANE_PROJECT_REF,
    serviceRoleKey: config.TERRANE_SERVICE_ROLE_KEY,
    servicesKey: config.TERRANE_SERVICES_KEY,
  })
  if (revoked.length > 0) logger.warn({ roles: revoked }, 'keys of the environment were revoked and stay refused')
  return project
}
