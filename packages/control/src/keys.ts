import { hashKey, makeOpaqueKey, publicScopes, type KeyScope, type PublicLimits } from '@terrane/auth'
import { uuidv7 } from '@terrane/core'
import type { Database, Queryable } from '@terrane/database'
import type { Sealer } from '@terrane/service'
import { keyEnded, keyNotFound, keyNotIssued, secretsKeyNeeded } from './errors.ts'
import { KEY_CHANNEL, KEY_COLUMNS, KEY_TABLES, keyPrefix, type KeyRecord, type KeyRole } from './key-record.ts'
import { isUuid } from './organizations.ts'
import { servicesKeyContext } from './projects.ts'
import { revokeTokens, type RevokedTokens } from './revoked-tokens.ts'

export interface NewKey {
  readonly organizationId: string
  /** Required for anon and service_role keys, refused for other roles. */
  readonly projectId?: string
  readonly role: KeyRole
  readonly scopes?: readonly KeyScope[]
  /** Makes an anon key a publishable one, for use in URLs. */
  readonly limits?: PublicLimits
  readonly label?: string
  readonly expiresAt?: Date
}

/** A new key; its text is available only at this moment. */
export interface IssuedKey {
  readonly key: string
  readonly record: KeyRecord
}

/** The keys of organizations and projects: issued, rotated with an overlap, revoked. */
export class Keys {
  readonly #database: Database
  readonly #sealer: Sealer | null

  constructor(database: Database, sealer: Sealer | null) {
    this.#database = database
    this.#sealer = sealer
  }

  /** Makes a key of 256 random bits. */
  issue(wanted: NewKey): Promise<IssuedKey> {
    return this.#database.transaction((session) => insert(session, wanted))
  }

  /** Keys of an organization or a project, or all; expired and revoked keys only with `ended`. */
  async list(
    of: { readonly organizationId?: string; readonly projectId?: string; readonly ended?: boolean } = {},
  ): Promise<KeyRecord[]> {
    const { rows } = await this.#database.query<KeyRecord>(
      `select ${KEY_COLUMNS} from ${KEY_TABLES}
       where ($1::uuid is null or k.organization_id = $1) and ($2::uuid is null or k.project_id = $2)
         and ($3 or (k.revoked_at is null and coalesce(k.expires_at > clock_timestamp(), true)))
       order by k.created_at, k.id`,
      [of.organizationId ?? null, of.projectId ?? null, of.ended ?? false],
    )
    return rows
  }

  /** Finds a key by its id, its whole text, or a unique beginning of it. @throws KEY_NOT_FOUND */
  async find(reference: string): Promise<KeyRecord> {
    const id = isUuid(reference) ? reference : null
    const sha256 = hashKey(reference)
    const { rows } = await this.#database.query<KeyRecord>(
      `select ${KEY_COLUMNS} from ${KEY_TABLES}
       where k.id = $1::uuid or k.sha256 = $2 or (length($3) >= 8 and (starts_with(k.prefix, $3) or starts_with($3, k.prefix)))
       order by coalesce(k.id = $1::uuid, false) or k.sha256 = $2 desc limit 2`,
      [id, sha256, reference],
    )
    const [first, second] = rows
    const isExact = first?.id === id || first?.sha256 === sha256
    // The error does not repeat a whole key.
    if (!first || (second && !isExact)) throw keyNotFound({ key: id ?? reference.slice(0, 18) })
    return first
  }

  /**
   * Issues a successor with the same rights; the old key is accepted for `overlapMs` more. If the control plane sends
   * the key for the console and functions of the organization, it sends the successor from now on.
   *
   * @throws KEY_NOT_FOUND, KEY_ENDED, KEY_NOT_ISSUED
   */
  async rotate(id: string, overlapMs: number): Promise<IssuedKey> {
    return this.#database.transaction(async (session) => {
      const { rows } = await session.query<KeyRecord & { alive: boolean }>(
        `select ${KEY_COLUMNS}, k.revoked_at is null and coalesce(k.expires_at > clock_timestamp(), true) as alive
         from ${KEY_TABLES} where k.id = $1 for update of k`,
        [id],
      )
      const [old] = rows
      if (!old) throw keyNotFound({ key: id })
      if (!old.alive) throw keyEnded({ id })
      if (old.registeredBy !== null) throw keyNotIssued({ id, by: old.registeredBy })
      const issued = await insert(session, {
        organizationId: old.organizationId,
        ...(old.projectId !== null && { projectId: old.projectId }),
        role: old.role,
        ...(old.scopes !== null && { scopes: old.scopes }),
        label: old.label,
      })
      await session.query(
        `update terrane.keys set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => $2)) where id = $1`,
        [id, overlapMs / 1000],
      )
      await this.#passOn(session, old, issued.key)
      await tell(session, old.sha256)
      return issued
    })
  }

  /** Revokes a key at once. Repeating it has no effect. */
  async revoke(id: string): Promise<void> {
    const { rows } = await this.#database.query<{ sha256: string }>(
      'update terrane.keys set revoked_at = coalesce(revoked_at, clock_timestamp()) where id = $1 returning sha256',
      [id],
    )
    if (!rows[0]) throw keyNotFound({ key: id })
    await tell(this.#database, rows[0].sha256)
  }

  /** Revokes the keys of a project with a label at once. `except`: id of a key that stays valid. */
  async revokeLabelled(projectId: string, label: string, except: string | null = null): Promise<void> {
    const { rows } = await this.#database.query<{ sha256: string }>(
      `update terrane.keys set revoked_at = clock_timestamp()
       where project_id = $1 and label = $2 and revoked_at is null and id is distinct from $3::uuid returning sha256`,
      [projectId, label, except],
    )
    for (const { sha256 } of rows) await tell(this.#database, sha256)
  }

  /** Revokes tokens that are not registered keys, such as those of users and signed URLs. */
  revokeTokens(tokens: RevokedTokens): Promise<void> {
    return revokeTokens(this.#database, tokens)
  }

  /** The services key of an organization; a new one is issued when it is missing, expired or revoked. */
  async servicesKeyOf(organizationId: string): Promise<string> {
    const sealer = this.#need()
    return this.#database.transaction(async (session) => {
      const { rows } = await session.query<{ sealed: Buffer | null }>(
        'select sealed_services_key as sealed from terrane.organizations where id = $1 for update',
        [organizationId],
      )
      const sealed = rows[0]?.sealed
      const sent = sealed ? (sealer.open(sealed, servicesKeyContext(organizationId)) as string) : null
      if (sent !== null && !(await hasEnded(session, hashKey(sent)))) return sent
      const { key } = await insert(session, { organizationId, role: 'services', label: 'sent by the console' })
      await this.#keep(session, organizationId, key)
      return key
    })
  }

  async #passOn(session: Queryable, old: KeyRecord, successor: string): Promise<void> {
    const { organizationId } = old
    if (old.role !== 'services') return
    const { rows } = await session.query<{ sealed: Buffer | null }>(
      'select sealed_services_key as sealed from terrane.organizations where id = $1',
      [organizationId],
    )
    const sealed = rows[0]?.sealed
    if (!sealed) return
    const sent = this.#need().open(sealed, servicesKeyContext(organizationId)) as string
    if (hashKey(sent) === old.sha256) await this.#keep(session, organizationId, successor)
  }

  async #keep(session: Queryable, organizationId: string, key: string): Promise<void> {
    await session.query('update terrane.organizations set sealed_services_key = $2 where id = $1', [
      organizationId,
      this.#need().seal(key, servicesKeyContext(organizationId)),
    ])
  }

  #need(): Sealer {
    if (!this.#sealer) throw secretsKeyNeeded({ for: 'the key that the console sends' })
    return this.#sealer
  }
}

async function insert(session: Queryable, wanted: NewKey): Promise<IssuedKey> {
  if (wanted.limits && wanted.role !== 'anon')
    throw new TypeError(`only anon keys have limits; this is a key of ${wanted.role}`)
  const key = makeOpaqueKey(`trn_${wanted.role}`)
  const id = uuidv7()
  await session.query(
    `insert into terrane.keys (id, sha256, prefix, organization_id, project_id, role, scopes, label, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      id,
      hashKey(key),
      keyPrefix(key),
      wanted.organizationId,
      wanted.projectId ?? null,
      wanted.role,
      wanted.limits ? publicScopes(wanted.limits) : (wanted.scopes ?? null),
      wanted.label ?? '',
      wanted.expiresAt ?? null,
    ],
  )
  await tell(session, hashKey(key))
  const { rows } = await session.query<KeyRecord>(`select ${KEY_COLUMNS} from ${KEY_TABLES} where k.id = $1`, [id])
  return { key, record: rows[0]! }
}

/** Whether a key is known here and expired or revoked; false for keys of another control plane. */
async function hasEnded(session: Queryable, sha256: string): Promise<boolean> {
  const { rowCount } = await session.query(
    'select 1 from terrane.keys where sha256 = $1 and (revoked_at is not null or expires_at <= clock_timestamp())',
    [sha256],
  )
  return rowCount !== 0
}

async function tell(session: Queryable, sha256: string): Promise<void> {
  await session.query('select pg_notify($1, $2)', [KEY_CHANNEL, sha256])
}
