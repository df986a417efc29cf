import { createVerifier, hashKey, keyPrincipal, type CheckRevoked, type StoredKey, type Verify } from '@terrane/auth'
import { keysOfProject, openKeyring, registerLocal } from '@terrane/control'
import { defineError } from '@terrane/core'
import { migrate, openDatabase } from '@terrane/database'
import type { Logger } from '@terrane/service'
import type { OriginConfig } from './config.ts'

/** Authentication by the keys of the project and by tokens that its secret has signed. */
export interface Door extends AsyncDisposable {
  readonly verify: Verify
  /** Verifies publishable keys only; absent without a control plane, which issues them. */
  readonly verifyPublishable?: Verify
  /** Checks the tokens of signed URLs for revocation; absent without a control plane. */
  readonly checkRevoked?: CheckRevoked
}

const keysUnclear = defineError(
  'ORIGIN_KEYS',
  'invalid',
  (f: { reason: string }) => `It is not clear whose keys this origin accepts: ${f.reason}`,
  () => ({
    hint: 'In a pool set TERRANE_CONTROL_DATABASE_URL and TERRANE_PROJECT_ID; else TERRANE_ANON_KEY and TERRANE_SERVICE_ROLE_KEY.',
  }),
)

/**
 * Opens the verification of keys. With a control plane, an expired or revoked key is refused, even if it is a valid
 * token; without one, the keys of the environment are always valid.
 *
 * @throws ORIGIN_KEYS when settings contradict each other
 */
export async function openDoor(config: OriginConfig, logger: Logger): Promise<Door> {
  const { TERRANE_PROJECT_REF: ref, TERRANE_PROJECT_ID: id, TERRANE_CONTROL_DATABASE_URL: url } = config
  const { TERRANE_ANON_KEY: anonKey, TERRANE_SERVICE_ROLE_KEY: serviceRoleKey } = config
  const trust = {
    projectRef: ref,
    jwtSecret: config.TERRANE_JWT_SECRET,
    audiences: config.jwtAudiences,
  }
  if (id !== undefined && url === undefined) throw keysUnclear({ reason: 'TERRANE_PROJECT_ID has no control plane' })
  if (id !== undefined && (anonKey ?? serviceRoleKey) !== undefined)
    throw keysUnclear({ reason: 'TERRANE_PROJECT_ID is set, and keys of the environment as well' })
  if (url === undefined) {
    const keys: StoredKey[] = []
    if (anonKey) keys.push({ sha256: hashKey(anonKey), principal: keyPrincipal('anon', { projectRef: ref }) })
    if (serviceRoleKey)
      keys.push({ sha256: hashKey(serviceRoleKey), principal: keyPrincipal('service_role', { projectRef: ref }) })
    logger.warn({ setting: 'TERRANE_CONTROL_DATABASE_URL' }, 'keys that are revoked elsewhere stay good here')
    return { verify: createVerifier({ keys, trust }), [Symbol.asyncDispose]: () => Promise.resolve() }
  }
  await using opening = new AsyncDisposableStack()
  const database = opening.use(
    await openDatabase({
      url,
      max: 2,
      applicationName: 'terrane origin keys',
      onError: (error) => logger.warn({ err: error }, 'connection to the control plane lost'),
    }),
  )
  if (id === undefined) await migrate(database, ['control'])
  const projectId = id ?? (await registerLocal(database, { ref, anonKey, serviceRoleKey }, logger)).id
  const keys = opening.use(
    openKeyring({ connect: () => Promise.resolve(database), settings: config.keys, log: logger }),
  )
  const opened = opening.move()
  const known = keysOfProject(keys, projectId)
  return {
    checkRevoked: known.checkRevoked,
    verify: createVerifier({ ...known, trust }),
    verifyPublishable: createVerifier({ ...known, onlyPublishable: true }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
