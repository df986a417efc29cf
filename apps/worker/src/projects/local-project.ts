import type { Database } from '@terrane/database'
import type { ArtifactStore } from '@terrane/storage'
import { projectNotFound } from '@terrane/control'
import { functionsOff, wrongRole } from '../errors.ts'
import type { OpenProject, ProjectDirectory } from './project-directory.ts'
import type { Sealer } from '@terrane/service'

/** Local mode: one project, whose database is the worker's own, and its service-role keys. */
export function localProject(options: {
  readonly ref: string
  /** Its id in the control plane. */
  readonly id: string
  readonly database: Database
  readonly store: ArtifactStore
  readonly sealer: Sealer
  readonly functionsUrl: string | undefined
  readonly serviceRoleKey: string | undefined
}): ProjectDirectory {
  const project: OpenProject = {
    database: options.database,
    store: options.store,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  return {
    scope: async (principal, projectRef) => {
      const { role, projectId } = principal
      // A token is verified with this project's secret, so it is valid here; a key may belong to another project.
      if (role !== 'service_role' || (projectId !== null && projectId !== options.id))
        throw wrongRole({ need: 'the service role key of the project' })
      if (projectRef !== undefined && projectRef !== options.ref) throw projectNotFound({ ref: projectRef })
      return { projectRef: options.ref, organizationId: null, projectId: null }
    },
    openForSubmit: () => Promise.resolve(project),
    open: async (row) => ({
      input: options.sealer.open(row.sealed_input, row.id) as Record<string, unknown>,
      project,
    }),
    scopeById: async (id) =>
      id === options.id ? { projectRef: options.ref, organizationId: null, projectId: null } : null,
    functions: async () => {
      const { functionsUrl, serviceRoleKey } = options
      if (functionsUrl === undefined) throw functionsOff({ need: 'TERRANE_FUNCTIONS_URL' })
      if (serviceRoleKey === undefined) throw functionsOff({ need: 'TERRANE_SERVICE_ROLE_KEY' })
      return { projectId: options.id, url: functionsUrl.replace(/\/+$/, ''), key: serviceRoleKey }
    },
  }
}
