import { createVerifier, keyPrincipal, type Verify } from '@terrane/auth'
import { openKeyring } from '@terrane/control'
import { openDatabase, type Database } from '@terrane/database'
import { splitList } from '@terrane/core'
import type { Logger } from '@terrane/service'
import type { RouterConfig } from './config.ts'
import { keysMissing } from './errors.ts'

/** Verification of keys for the routing engine. */
export interface Door extends AsyncDisposable {
  readonly verify: Verify
}

/**
 * Opens the verification of keys: those of the control plane, or those of the settings for a router without one. It
 * does not wait for the database, because a router accepts cached keys while the database is unavailable.
 *
 * @throws ROUTER_KEYS_MISSING
 */
export function openDoor(config: RouterConfig, logger: Logger): Door {
  const accepted = splitList(config.TERRANE_ACCEPTED_KEYS).map((sha256) => sha256.toLowerCase())
  if (config.DATABASE_URL === undefined) {
    if (accepted.length === 0) throw keysMissing({ reason: 'neither is set' })
    const broken = accepted.findIndex((sha256) => !/^[0-9a-f]{64}$/.test(sha256))
    if (broken >= 0) throw keysMissing({ reason: `entry ${broken + 1} of TERRANE_ACCEPTED_KEYS is no SHA-256` })
    const keys = accepted.map((sha256) => ({ sha256, principal: keyPrincipal('services') }))
    return { verify: createVerifier({ keys }), [Symbol.asyncDispose]: () => Promise.resolve() }
  }
  if (accepted.length > 0) throw keysMissing({ reason: 'both are set' })
  return openControlled(config, config.DATABASE_URL, logger)
}

function openControlled(config: RouterConfig, url: string, logger: Logger): Door {
  const opened: Database[] = []
  const onLost = (error: unknown) => logger.warn({ err: error }, 'keys cannot be followed')
  const keys = openKeyring({
    connect: async () => {
      const database = await openDatabase({ url, max: 2, applicationName: 'terrane router', onError: onLost })
      opened.push(database)
      return database
    },
    settings: config.keys,
    log: logger,
  })
  return {
    verify: createVerifier({ findStoredKey: (sha256) => keys.keyring.find(sha256) }),
    async [Symbol.asyncDispose]() {
      await keys[Symbol.asyncDispose]()
      await Promise.all(opened.map((database) => database.close()))
    },
  }
}
