import { createVerifier, hashKey, keyPrincipal, type Principal, type StoredKey, type Verify } from '@terrane/auth'
import type { Database } from '@terrane/database'
import type { WorkerConfig } from './config.ts'

/** The organization of TERRANE_SERVICES_KEY. */
const DEFAULT_ORGANIZATION = '00000000-0000-7000-8000-000000000000'

/** Local mode: the project's service-role key or token. Shared mode: the Services API keys of organizations. */
export async function openVerifier(config: WorkerConfig, database: Database): Promise<Verify> {
  const keys: StoredKey[] = []
  if (config.TERRANE_MODE === 'local') {
    const projectRef = config.TERRANE_PROJECT_REF
    if (config.TERRANE_SERVICE_ROLE_KEY) {
      keys.push({
        sha256: hashKey(config.TERRANE_SERVICE_ROLE_KEY),
        principal: keyPrincipal('service_role', { projectRef }),
      })
    }
    const { TERRANE_JWT_SECRET: jwtSecret } = config
    return createVerifier({ keys, ...(jwtSecret && { trust: { projectRef, jwtSecret } }) })
  }
  if (config.TERRANE_SERVICES_KEY) {
    await database.query(
      `with o as (insert into terrane.organizations (id, name) values ($1, 'default') on conflict (id) do nothing)
       insert into terrane.services_keys (sha256, organization_id, label) values ($2, $1, 'TERRANE_SERVICES_KEY') on conflict do nothing`,
      [DEFAULT_ORGANIZATION, hashKey(config.TERRANE_SERVICES_KEY)],
    )
  }
  return createVerifier({ findStoredKey: (sha256) => findServicesKey(database, sha256) })
}

async function findServicesKey(database: Database, sha256: string): Promise<Principal | null> {
  const { rows } = await database.query<{ organization_id: string }>(
    'select organization_id from terrane.services_keys where sha256 = $1 and revoked_at is null',
    [sha256],
  )
  const organizationId = rows[0]?.organization_id
  return organizationId === undefined ? null : keyPrincipal('services', { organizationId })
}
