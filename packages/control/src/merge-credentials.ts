import type { Database } from '@terrane/database'
import type { Sealer } from '@terrane/service'
import { registerCredentialKeys } from './credential-keys.ts'
import type { Credentials } from './credentials.ts'
import { credentialsUnreadable } from './errors.ts'
import { credentialContext, writeCredentials } from './projects.ts'

interface Part {
  readonly part: 'worker' | 'functions' | 'console'
  readonly sealed: Buffer
}

interface Unmerged {
  readonly id: string
  readonly ref: string
  readonly organizationId: string
  readonly sealed: Buffer | null
}

/** Additional data (AAD) of each app's sealed credentials. */
const CONTEXTS = {
  worker: (ref: string) => ref,
  functions: (ref: string) => `functions project ${ref}`,
  console: (ref: string) => `console project ${ref}`,
}

/** The names that each app had used for the same things. */
interface Before {
  readonly databaseUrl?: string
  readonly storageUrl?: string
  readonly originUrl?: string
  readonly apiUrl?: string
  readonly anonKey?: string
  readonly serviceRoleKey?: string
  readonly serviceKey?: string
  readonly servicesKey?: string
  readonly jwtSecret?: string
  readonly jwksUrl?: string
}

/**
 * Merges the separately sealed credentials of worker, functions host and console, from before the control plane, into
 * one sealed value per project. Values that the key cannot open are unchanged.
 */
export async function mergeCredentials(
  database: Database,
  sealer: Sealer,
  onUnreadable: (error: unknown) => void,
): Promise<void> {
  const { rows } = await database.query<Unmerged>(
    `select p.id, p.ref, p.organization_id as "organizationId", p.sealed_credentials as sealed from terrane.projects p
     where exists (select 1 from terrane.unmerged_credentials u where u.project_id = p.id)`,
  )
  for (const project of rows) await merge(database, sealer, project).catch(onUnreadable)
}

async function merge(database: Database, sealer: Sealer, project: Unmerged): Promise<void> {
  const { id, ref } = project
  await database.transaction(async (session) => {
    const { rows: parts } = await session.query<Part>(
      'select part, sealed from terrane.unmerged_credentials where project_id = $1 order by part desc for update',
      [id],
    )
    // Another process may have been faster.
    if (parts.length === 0) return
    const opened = new Map<Part['part'], Before>()
    for (const { part, sealed } of parts) {
      try {
        opened.set(part, sealer.open(sealed, CONTEXTS[part](ref)) as Before)
      } catch (cause) {
        throw credentialsUnreadable({ ref, part }, { cause })
      }
    }
    const credentials = asOne(opened)
    await writeCredentials(session, id, sealer.seal(credentials, credentialContext(id)))
    await registerCredentialKeys(session, project, credentials)
    const former = opened.get('functions')?.serviceKey
    // The functions host accepted its own, whatever the worker and the console sent.
    if (former !== undefined) await registerCredentialKeys(session, project, { serviceRoleKey: former })
    await session.query('delete from terrane.unmerged_credentials where project_id = $1', [id])
  })
}

function asOne(parts: ReadonlyMap<Part['part'], Before>): Credentials {
  const worker = parts.get('worker') ?? {}
  const functions = parts.get('functions') ?? {}
  const browser = parts.get('console') ?? {}
  const originUrl = browser.originUrl ?? functions.apiUrl
  const merged: Record<keyof Credentials, string | undefined> = {
    databaseUrl: worker.databaseUrl,
    storageUrl: worker.storageUrl,
    originUrl,
    apiUrl: functions.apiUrl === originUrl ? undefined : functions.apiUrl,
    anonKey: functions.anonKey ?? browser.anonKey,
    serviceRoleKey: worker.serviceRoleKey ?? browser.serviceRoleKey ?? functions.serviceKey,
    servicesKey: functions.servicesKey,
    jwtSecret: functions.jwtSecret,
    jwksUrl: functions.jwksUrl,
  }
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined))
}
