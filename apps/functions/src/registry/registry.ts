import type { Database, Queryable } from '@terrane/database'
import type { Sealer } from '@terrane/service'
import { nameTaken, secretOutdated } from '../errors.ts'
import type { Policy } from '../policy.ts'

/** The record of a version. */
export interface VersionRecord {
  readonly version: number
  readonly digest: string
  readonly bytes: number
  readonly policy: Policy
  readonly createdBy: string
  readonly createdAt: Date
}

/** The live version, and the etag that a change must match. */
export interface LiveRecord extends VersionRecord {
  readonly project: string
  readonly name: string
  readonly etag: string
}

/** Converts between a host's own name for a project and its id in the control plane. */
export interface RegistryIds {
  toRegistry(project: string): string
  /** Null for a project that this host does not serve. */
  fromRegistry(id: string): string | null
}

/** New values of secrets by key; null deletes a secret. */
export type SecretChanges = Readonly<Record<string, string | null>>

export const CHANNEL = 'terrane_functions'

const VERSION = `v.version, v.digest, v.bytes, v.policy, v.created_by as "createdBy", v.created_at as "createdAt"`
const LIVE = `select l.project_id as project, l.name, l.etag, ${VERSION} from terrane.function_live l
  join terrane.function_versions v using (project_id, name, version)`

/** The registry of deployed functions in PostgreSQL: immutable versions, one of them live, and sealed secrets. */
export class Registry {
  readonly database: Database
  readonly #sealer: Sealer
  readonly #ids: RegistryIds

  constructor(database: Database, sealer: Sealer, ids: RegistryIds) {
    this.database = database
    this.#sealer = sealer
    this.#ids = ids
  }

  async allLive(): Promise<LiveRecord[]> {
    return this.#own((await this.database.query<LiveRecord>(LIVE)).rows)
  }

  async live(project: string, name: string): Promise<LiveRecord | null> {
    const { rows } = await this.database.query<LiveRecord>(`${LIVE} where l.project_id = $1 and l.name = $2`, [
      this.#ids.toRegistry(project),
      name,
    ])
    return this.#own(rows)[0] ?? null
  }

  async liveOf(project: string): Promise<LiveRecord[]> {
    const { rows } = await this.database.query<LiveRecord>(`${LIVE} where l.project_id = $1 order by l.name`, [
      this.#ids.toRegistry(project),
    ])
    return this.#own(rows)
  }

  /** Versions of a function, newest first. */
  async versions(project: string, name: string): Promise<VersionRecord[]> {
    const { rows } = await this.database.query<VersionRecord>(
      `select ${VERSION} from terrane.function_versions v where project_id = $1 and name = $2 order by version desc`,
      [this.#ids.toRegistry(project), name],
    )
    return rows
  }

  /** Records a version under the next free number. */
  async addVersion(
    project: string,
    name: string,
    record: Pick<VersionRecord, 'digest' | 'bytes' | 'policy' | 'createdBy'>,
  ): Promise<number> {
    // Two deploys at once may pick the same number: the second tries the next one.
    for (;;) {
      const { rows } = await this.database.query<{ version: number }>(
        `insert into terrane.function_versions (project_id, name, version, digest, bytes, policy, created_by)
         select $1::uuid, $2, coalesce(max(version), 0) + 1, $3, $4, $5, $6
         from terrane.function_versions where project_id = $1 and name = $2
         on conflict do nothing returning version`,
        [
          this.#ids.toRegistry(project),
          name,
          record.digest,
          record.bytes,
          JSON.stringify(record.policy),
          record.createdBy,
        ],
      )
      const version = rows[0]?.version
      if (version !== undefined) return version
    }
  }

  /**
   * Makes a version live if no change was made since `etag` was read (null: nothing was live).
   *
   * @returns the new etag, or null when another change was made
   */
  async promote(project: string, name: string, version: number, etag: string | null): Promise<string | null> {
    const statement =
      etag === null
        ? `insert into terrane.function_live (project_id, name, version) values ($1, $2, $3)
           on conflict do nothing returning etag`
        : `update terrane.function_live set version = $3, etag = gen_random_uuid(), updated_at = clock_timestamp()
           where project_id = $1 and name = $2 and etag = $4 returning etag`
    const id = this.#ids.toRegistry(project)
    const values = etag === null ? [id, name, version] : [id, name, version, etag]
    const { rows } = await this.database.query<{ etag: string }>(statement, values)
    const changed = rows[0]?.etag ?? null
    if (changed !== null) await this.#tell(project, name)
    return changed
  }

  /**
   * Removes a function with all its versions and secrets.
   *
   * @returns the digests that no version of the project names any more, or null when there was no such function
   */
  async remove(project: string, name: string): Promise<{ unused: string[] } | null> {
    const key = [this.#ids.toRegistry(project), name]
    const digests = await this.database.transaction(async (session) => {
      await session.query('delete from terrane.function_live where project_id = $1 and name = $2', key)
      await session.query('delete from terrane.function_secrets where project_id = $1 and name = $2', key)
      const { rows } = await session.query<{ digest: string }>(
        'delete from terrane.function_versions where project_id = $1 and name = $2 returning digest',
        key,
      )
      return rows.map((row) => row.digest)
    })
    if (digests.length === 0) return null
    await this.#tell(project, name)
    return { unused: await this.#unused(project, digests) }
  }

  /**
   * Gives a function another name, with its versions, its secrets and the hooks that call it; false when there is none.
   *
   * @throws FUNCTION_NAME_TAKEN
   */
  async rename(project: string, name: string, to: string): Promise<boolean> {
    const id = this.#ids.toRegistry(project)
    const isDone = await this.database
      .transaction(async (session) => {
        const key = [id, name]
        const of = 'where project_id = $1 and name = $2'
        // If two hosts rename it at once, the second one waits here and then finds no row.
        const { rowCount } = await session.query(`select from terrane.function_live ${of} for update`, key)
        if (rowCount === 0) return false
        // The live row refers to its version by name, so versions are copied before it moves and deleted after.
        await session.query(
          `insert into terrane.function_versions (project_id, name, version, digest, bytes, policy, created_by, created_at)
           select project_id, $3, version, digest, bytes, policy, created_by, created_at from terrane.function_versions ${of}`,
          [...key, to],
        )
        const live = `update terrane.function_live set name = $3, etag = gen_random_uuid(), updated_at = clock_timestamp() ${of}`
        await session.query(live, [...key, to])
        for (const [secret, value] of Object.entries(await this.secrets(project, name, session)))
          await this.#changeSecret(session, [id, to, secret], value)
        for (const table of ['function_versions', 'function_secrets'])
          await session.query(`delete from terrane.${table} ${of}`, key)
        for (const table of ['table_hooks', 'webhooks'] as const) await session.query(renamedHooks(table), [...key, to])
        return true
      })
      .catch((error: unknown) => {
        // unique_violation
        throw (error as { code?: unknown }).code === '23505' ? nameTaken({ name: to }, { cause: error }) : error
      })
    if (isDone) await this.#tell(project, name)
    return isDone
  }

  /**
   * Deletes old versions of a function; the live one and the newest `keep` stay.
   *
   * @returns the number of deleted versions, and the digests that no version of the project names any more
   */
  async prune(project: string, name: string, keep: number): Promise<{ removed: number; unused: string[] }> {
    const { rows } = await this.database.query<{ digest: string }>(
      `delete from terrane.function_versions v where project_id = $1 and name = $2
         and version not in (select version from terrane.function_versions
                             where project_id = $1 and name = $2 order by version desc limit $3)
         and not exists (select 1 from terrane.function_live l
                         where (l.project_id, l.name, l.version) = (v.project_id, v.name, v.version))
       returning digest`,
      [this.#ids.toRegistry(project), name, keep],
    )
    const digests = rows.map((row) => row.digest)
    return { removed: digests.length, unused: await this.#unused(project, digests) }
  }

  async #unused(project: string, digests: readonly string[]): Promise<string[]> {
    const { rows } = await this.database.query<{ digest: string }>(
      'select distinct digest from terrane.function_versions where project_id = $1 and digest = any ($2)',
      [this.#ids.toRegistry(project), digests],
    )
    const used = new Set(rows.map((row) => row.digest))
    return [...new Set(digests)].filter((digest) => !used.has(digest))
  }

  /**
   * The secrets of a function, or with an empty name the project's, opened.
   *
   * @throws FUNCTION_SECRET_OUTDATED, SEAL_BROKEN
   */
  async secrets(project: string, name: string, database: Queryable = this.database): Promise<Record<string, string>> {
    const id = this.#ids.toRegistry(project)
    const { rows } = await database.query<{ key: string; sealed: Buffer; isOutdated: boolean }>(
      `select key, sealed, sealed_for is not null as "isOutdated" from terrane.function_secrets
       where project_id = $1 and name = $2 order by key`,
      [id, name],
    )
    const outdated = rows.flatMap(({ key, isOutdated }) => (isOutdated ? [key] : []))
    if (outdated.length > 0) throw secretOutdated({ names: outdated })
    const open = (key: string, sealed: Buffer) => this.#sealer.open(sealed, secretContext(id, name, key)) as string
    return Object.fromEntries(rows.map(({ key, sealed }) => [key, open(key, sealed)]))
  }

  /** Names of secrets and when they changed; values never leave. */
  async secretNames(project: string, name: string): Promise<{ name: string; updatedAt: Date }[]> {
    const { rows } = await this.database.query<{ name: string; updatedAt: Date }>(
      `select key as name, updated_at as "updatedAt" from terrane.function_secrets
       where project_id = $1 and name = $2 order by key`,
      [this.#ids.toRegistry(project), name],
    )
    return rows
  }

  /** Changes secrets, all or none, and replaces the instances that use them on every host. */
  async changeSecrets(project: string, name: string, changes: SecretChanges): Promise<void> {
    const id = this.#ids.toRegistry(project)
    await this.database.transaction(async (session) => {
      for (const [key, value] of Object.entries(changes)) await this.#changeSecret(session, [id, name, key], value)
      await session.query(
        `update terrane.function_live set etag = gen_random_uuid(), updated_at = clock_timestamp()
         where project_id = $1 and ($2 = '' or name = $2)`,
        [id, name],
      )
    })
    await this.#tell(project, name)
  }

  async #changeSecret(
    session: Queryable,
    [project, name, key]: readonly [project: string, name: string, key: string],
    value: string | null,
  ): Promise<void> {
    if (value === null) {
      await session.query('delete from terrane.function_secrets where (project_id, name, key) = ($1, $2, $3)', [
        project,
        name,
        key,
      ])
      return
    }
    await session.query(
      `insert into terrane.function_secrets (project_id, name, key, sealed) values ($1, $2, $3, $4)
       on conflict (project_id, name, key) do update set sealed = excluded.sealed, sealed_for = null, updated_at = clock_timestamp()`,
      [project, name, key, this.#sealer.seal(value, secretContext(project, name, key))],
    )
  }

  /** Replaces the registry's project ids by the host's own, and leaves out projects that this host does not serve. */
  #own(records: readonly LiveRecord[]): LiveRecord[] {
    return records.flatMap((record) => {
      const project = this.#ids.fromRegistry(record.project)
      return project === null ? [] : [{ ...record, project }]
    })
  }

  /** Notifies the other hosts. Those whose server delivers no notifications notice at their next poll. */
  async #tell(project: string, name: string): Promise<void> {
    await this.database.query('select pg_notify($1, $2)', [CHANNEL, `${project}/${name}`])
  }
}

/** Statement that renames a function in the hooks of a table; $1 is the project, $2 the former name, $3 the new one. */
function renamedHooks(table: 'table_hooks' | 'webhooks'): string {
  return `update terrane.${table} h set shown_url = '/functions/v1/' || $3, function_name = case when h.entry is not null then $3 end
    from terrane.projects p where p.id = $1 and h.shown_url = '/functions/v1/' || $2
      and (h.project_id = p.id or (h.project_id is null and h.organization_id is null and h.project_ref = p.ref))`
}

function secretContext(project: string, name: string, key: string): string {
  return `function secret ${project}/${name}/${key}`
}
