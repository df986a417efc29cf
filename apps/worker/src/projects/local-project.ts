import type { Database } from '@terrane/database'
import type { ArtifactStore } from '@terrane/storage'
import { projectNotFound, wrongRole } from '../errors.ts'
import type { OpenProject, ProjectDirectory } from './project-directory.ts'
import type { Sealer } from '@terrane/service'

/** Local mode: one project, whose database is the worker's own, and its service-role key. */
export function localProject(options: {
  readonly ref: string
  readonly database: Database
  readonly store: ArtifactStore
  readonly sealer: Sealer
}): ProjectDirectory {
  const project: OpenProject = {
    database: options.database,
    store: options.store,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  return {
    scope: async (principal, projectRef) => {
      if (principal.role !== 'service_role') throw wrongRole({ need: 'the service role key of the project' })
      if (projectRef !== undefined && projectRef !== options.ref) throw projectNotFound({ ref: projectRef })
      return { projectRef: options.ref, organizationId: null }
    },
    openForSubmit: () => Promise.resolve(project),
    open: async (row) => ({
      input: options.sealer.open(row.sealed_input, row.id) as Record<string, unknown>,
      project,
    }),
  }
}
