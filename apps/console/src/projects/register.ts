import type { Database } from '@terrane/database'
import type { Sealer } from '@terrane/service'
import { connectionContext, servicesKeyContext, type ProjectConnection } from './projects.ts'

/** Puts a project under an organization and gives it a name; a project that is there keeps its organization. */
export async function registerProject(
  database: Database,
  project: { readonly ref: string; readonly name: string; readonly organizationId: string },
): Promise<void> {
  await database.transaction(async (session) => {
    await session.query(
      'insert into terrane.projects (ref, organization_id) values ($1, $2) on conflict (ref) do nothing',
      [project.ref, project.organizationId],
    )
    await session.query(
      `insert into terrane.console_projects (ref, name) values ($1, $2)
       on conflict (ref) do update set name = excluded.name, updated_at = now()`,
      [project.ref, project.name],
    )
  })
}

/** Tells the console how to reach a registered project of the shared pool. False when it is not registered. */
export async function setConnection(
  database: Database,
  sealer: Sealer,
  project: { readonly ref: string; readonly name: string },
  connection: ProjectConnection,
): Promise<boolean> {
  const { rowCount } = await database.query(
    `insert into terrane.console_projects (ref, name, sealed_connection)
     select ref, $2, $3 from terrane.projects where ref = $1
     on conflict (ref) do update
     set name = excluded.name, sealed_connection = excluded.sealed_connection, updated_at = now()`,
    [project.ref, project.name, sealer.seal(connection, connectionContext(project.ref))],
  )
  return rowCount === 1
}

/** Gives the console an organization's Services API key. */
export async function setServicesKey(
  database: Database,
  sealer: Sealer,
  organizationId: string,
  key: string,
): Promise<void> {
  await database.query(
    `insert into terrane.console_organizations (organization_id, sealed_services_key) values ($1, $2)
     on conflict (organization_id) do update set sealed_services_key = excluded.sealed_services_key, updated_at = now()`,
    [organizationId, sealer.seal(key, servicesKeyContext(organizationId))],
  )
}
