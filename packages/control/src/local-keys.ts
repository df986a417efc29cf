import { hashKey } from '@terrane/auth'
import { uuidv7 } from '@terrane/core'
import type { Database } from '@terrane/database'
import type { Logger } from '@terrane/service'
import { KEY_CHANNEL, keyPrefix } from './key-record.ts'
import { DEFAULT_ORGANIZATION, Organizations } from './organizations.ts'
import { Projects, type Project } from './projects.ts'

/** Project and keys in the environment of a local stack. */
export interface LocalStack {
  readonly ref: string
  readonly name?: string
  readonly anonKey?: string | undefined
  readonly serviceRoleKey?: string | undefined
  readonly servicesKey?: string | undefined
}

/**
 * Creates the organization and the project of a local stack if they are missing, and registers the keys of its
 * environment. A former key of the same stack and role expires now. A key that the environment does not name leaves the
 * former one valid.
 *
 * @param log called with the keys that stay refused because they are revoked
 */
export async function registerLocal(
  database: Database,
  stack: LocalStack,
  log?: Pick<Logger, 'warn'>,
): Promise<Project> {
  await new Organizations(database).create('default', DEFAULT_ORGANIZATION)
  const project = await localProject(database, stack)
  const keys = [
    ['anon', stack.anonKey],
    ['service_role', stack.serviceRoleKey],
    ['services', stack.servicesKey],
  ] as const
  const revoked: string[] = []
  for (const [role, key] of keys) {
    if (key === undefined) continue
    if (!(await accept(database, project, role, key))) revoked.push(role)
  }
  if (revoked.length > 0) log?.warn({ roles: revoked }, 'keys of the environment were revoked and stay refused')
  return project
}

async function localProject(database: Database, { ref, name = '' }: LocalStack): Promise<Project> {
  const projects = new Projects(database, null)
  const found = await projects.find(DEFAULT_ORGANIZATION, ref)
  if (!found) {
    try {
      return await projects.create({ organizationId: DEFAULT_ORGANIZATION, ref, name })
    } catch (error) {
      // Another app of the stack has created it meanwhile.
      const made = await projects.find(DEFAULT_ORGANIZATION, ref)
      if (!made) throw error
      return made
    }
  }
  if (name !== '' && found.name !== name) await projects.set(found.id, { name }, 0)
  return found
}

async function accept(
  database: Database,
  project: Project,
  role: 'anon' | 'service_role' | 'services',
  key: string,
): Promise<boolean> {
  const sha256 = hashKey(key)
  const registeredBy = `local:${project.ref}`
  return database.transaction(async (session) => {
    await session.query(
      `insert into terrane.keys as k (id, sha256, prefix, organization_id, project_id, role, label, registered_by)
       values ($1, $2, $3, $4, $5, $6, 'environment', $7)
       on conflict (sha256) do update set expires_at = null
         where k.registered_by = excluded.registered_by and k.revoked_at is null and k.expires_at is not null`,
      [
        uuidv7(),
        sha256,
        keyPrefix(key),
        project.organizationId,
        role === 'services' ? null : project.id,
        role,
        registeredBy,
      ],
    )
    const { rows } = await session.query<{ sha256: string }>(
      `update terrane.keys set expires_at = clock_timestamp()
       where registered_by = $1 and role = $2 and sha256 <> $3 and coalesce(expires_at > clock_timestamp(), true)
       returning sha256`,
      [registeredBy, role, sha256],
    )
    for (const ended of [...rows, { sha256 }])
      await session.query('select pg_notify($1, $2)', [KEY_CHANNEL, ended.sha256])
    const { rows: now } = await session.query<{ alive: boolean }>(
      `select revoked_at is null and coalesce(expires_at > clock_timestamp(), true) as alive from terrane.keys where sha256 = $1`,
      [sha256],
    )
    return now[0]?.alive ?? false
  })
}
