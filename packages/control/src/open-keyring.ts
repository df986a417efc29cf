import { keyPrincipal } from '@terrane/auth'
import type { Database } from '@terrane/database'
import type { Logger } from '@terrane/service'
import { KEY_CHANNEL, type KeyRecord } from './key-record.ts'
import { Keyring, type FoundKey } from './keyring.ts'
import { Revocations, readRevoked } from './revoked-tokens.ts'

export interface OpenKeyringOptions {
  /** Connects to the database of the control plane; called again after a failure. */
  readonly connect: () => Promise<Database>
  /** Cache time of keys in milliseconds, and additional time while the database does not answer. */
  readonly settings: { readonly cacheMs: number; readonly graceMs: number }
  /** Logs failures to record uses of keys, or to listen for changes. */
  readonly log: Pick<Logger, 'warn'>
}

/** A keyring on the tables of the control plane. */
export interface OpenKeyring extends AsyncDisposable {
  readonly keyring: Keyring
  readonly revoked: Revocations
}

/** Interval at which uses of keys are recorded, in milliseconds. */
const USED_EVERY_MS = 60_000
/** Timeout of a look-up in milliseconds. */
const LOOK_UP_MS = 3000

/** Opens a keyring without waiting for the database; keys are refused with KEYS_UNAVAILABLE until it answers. */
export function openKeyring(options: OpenKeyringOptions): OpenKeyring {
  const used = new Set<string>()
  const onLost = (error: unknown) => options.log.warn({ err: error }, 'keys cannot be followed')
  let connected: Promise<Database> | null = null
  let listening: Promise<AsyncDisposable | null> | null = null
  const connect = () => {
    connected ??= options.connect().then(
      (database) => {
        listening = database.listen(KEY_CHANNEL, (sha256) => {
          keyring.forget(sha256)
          revoked.forget()
        })
        return database
      },
      (error: unknown) => {
        connected = null
        throw error
      },
    )
    return connected
  }
  const keyring = new Keyring({
    find: (sha256) => within(LOOK_UP_MS, lookUp(connect, sha256)),
    ...options.settings,
    onUsed: (id) => used.add(id),
  })
  const revoked = new Revocations({
    read: (since) =>
      within(
        LOOK_UP_MS,
        connect().then((database) => readRevoked(database, since)),
      ),
    ...options.settings,
  })
  const flush = async () => {
    const ids = [...used]
    used.clear()
    if (ids.length > 0) await connect().then((database) => writeUsed(database, ids))
  }
  const timer = setInterval(() => void flush().catch(onLost), USED_EVERY_MS)
  timer.unref()
  connect().catch(onLost)
  return {
    keyring,
    revoked,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush().catch(onLost)
      await (await listening)?.[Symbol.asyncDispose]()
    },
  }
}

async function lookUp(connect: () => Promise<Database>, sha256: string): Promise<FoundKey | null> {
  const database = await connect()
  const { rows } = await database.query<KeyRecord & { endsInMs: number | null }>(
    `select k.id, k.sha256, k.organization_id as "organizationId", k.project_id as "projectId", p.ref as "projectRef",
       k.role, k.scopes, k.revoked_at as "revokedAt",
       (extract(epoch from k.expires_at - clock_timestamp()) * 1000)::float8 as "endsInMs"
     from terrane.keys k left join terrane.projects p on p.id = k.project_id where k.sha256 = $1`,
    [sha256],
  )
  const [key] = rows
  if (!key) return null
  return {
    id: key.id,
    sha256: key.sha256,
    principal: keyPrincipal(key.role, key),
    revoked: key.revokedAt !== null,
    endsInMs: key.endsInMs,
  }
}

async function writeUsed(database: Database, ids: readonly string[]): Promise<void> {
  await database.query(
    `update terrane.keys set last_used_at = date_trunc('minute', clock_timestamp())
     where id = any ($1::uuid[]) and coalesce(last_used_at < date_trunc('minute', clock_timestamp()), true)`,
    [ids],
  )
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
