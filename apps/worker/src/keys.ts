import { createVerifier, type Verify } from '@terrane/auth'
import {
  DEFAULT_ORGANIZATION,
  Projects,
  openKeyring,
  projectNotFound,
  revocationsOf,
  type OpenKeyring,
} from '@terrane/control'
import type { Database } from '@terrane/database'
import type { Logger } from '@terrane/service'
import type { WorkerConfig } from './config.ts'

/** Verification of callers: keys of the control plane, and in local mode tokens of the project as well. */
export interface Door extends OpenKeyring {
  readonly verify: Verify
}

export function openDoor(config: WorkerConfig, database: Database, logger: Logger): Door {
  const opened = openKeyring({ connect: () => Promise.resolve(database), settings: config.keys, log: logger })
  const { TERRANE_MODE: mode, TERRANE_PROJECT_REF: projectRef, TERRANE_JWT_SECRET: jwtSecret } = config
  const audiences = config.jwtAudiences
  const projectId = localProjectId(database, projectRef)
  const verify = createVerifier({
    findStoredKey: (sha256) => opened.keyring.find(sha256),
    ...(mode === 'local' &&
      jwtSecret && {
        trust: { projectRef, jwtSecret, audiences },
        checkRevoked: async (token: string) => revocationsOf(opened.revoked, await projectId())(token),
      }),
  })
  return { ...opened, verify }
}

/** Returns the id of the local project, which is registered before requests arrive. */
function localProjectId(database: Database, ref: string): () => Promise<string> {
  const projects = new Projects(database, null)
  let id: string | null = null
  return async () => {
    id ??= (await projects.find(DEFAULT_ORGANIZATION, ref))?.id ?? null
    if (id === null) throw projectNotFound({ ref })
    return id
  }
}
