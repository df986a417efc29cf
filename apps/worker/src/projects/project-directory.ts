import type { ProjectTarget } from '@terrane/contracts'
import type { Database } from '@terrane/database'
import type { ArtifactStore } from '@terrane/storage'
import type { Principal } from '@terrane/auth'
import type { JobRow, JobScope } from '../queue/job-row.ts'

/** A project that is open for the time of a check or a job. */
export interface OpenProject extends AsyncDisposable {
  readonly database: Database
  readonly store: ArtifactStore
}

/** Address for calls of a project's functions, without a slash at the end, and the service key that is sent. */
export interface FunctionsAddress {
  /** Its id in the control plane; null where it is not there. */
  readonly projectId: string | null
  readonly url: string
  readonly key: string
}

/** Projects that this worker serves: one in local mode, those of the caller's organization in the shared pool. */
export interface ProjectDirectory {
  /**
   * The jobs a caller may see under a project reference.
   *
   * @throws PROJECT_NOT_FOUND, PROJECT_REF_REQUIRED (with `path`, where the reference belongs), FORBIDDEN for other keys
   */
  scope(principal: Principal, projectRef: string | undefined, path: string): Promise<JobScope>
  /** Opens the project for checks at submit. */
  openForSubmit(scope: JobScope, target: ProjectTarget | undefined): Promise<OpenProject>
  /** Unseals a job's input and opens its project. */
  open(row: JobRow): Promise<{ input: Record<string, unknown>; project: OpenProject }>
  /** The jobs of a project of the control plane; null for one that this worker does not serve. */
  scopeById(projectId: string): Promise<JobScope | null>
  /** @throws FUNCTIONS_OFF where the platform cannot call functions of the project */
  functions(scope: JobScope): Promise<FunctionsAddress>
}
