import { hashKey } from '@terrane/auth'
import { uuidv7 } from '@terrane/core'
import type { Queryable } from '@terrane/database'
import type { Credentials } from './credentials.ts'
import { KEY_CHANNEL, keyPrefix } from './key-record.ts'

/** Accepts the keys that a project's credentials name as keys of that project. */
export async function registerCredentialKeys(
  session: Queryable,
  project: { readonly id: string; readonly organizationId: string },
  credentials: Credentials,
): Promise<void> {
  for (const [role, key] of keysOf(credentials)) {
    await session.query(
      `insert into terrane.keys as k (id, sha256, prefix, organization_id, project_id, role, registered_by)
       values ($1, $2, $3, $4, $5, $6, 'credentials')
       on conflict (sha256) do update set expires_at = null
         where k.project_id = excluded.project_id and k.registered_by = 'credentials' and k.revoked_at is null`,
      [uuidv7(), hashKey(key), keyPrefix(key), project.organizationId, project.id, role],
    )
    await session.query('select pg_notify($1, $2)', [KEY_CHANNEL, hashKey(key)])
  }
}

/** Ends, after an overlap, the keys of earlier credentials that the new ones do not name. */
export async function endCredentialKeys(
  session: Queryable,
  projectId: string,
  credentials: Credentials,
  overlapMs: number,
): Promise<void> {
  const { rows } = await session.query<{ sha256: string }>(
    `update terrane.keys set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => $3))
     where project_id = $1 and registered_by = 'credentials' and not (sha256 = any ($2)) returning sha256`,
    [projectId, keysOf(credentials).map(([, key]) => hashKey(key)), overlapMs / 1000],
  )
  for (const { sha256 } of rows) await session.query('select pg_notify($1, $2)', [KEY_CHANNEL, sha256])
}

function keysOf({ anonKey, serviceRoleKey }: Credentials): ['anon' | 'service_role', string][] {
  return [
    ...(anonKey === undefined ? [] : [['anon', anonKey] as ['anon', string]]),
    ...(serviceRoleKey === undefined ? [] : [['service_role', serviceRoleKey] as ['service_role', string]]),
  ]
}
