import type { ProjectTarget } from '@terrane/contracts'
import { servesFor, type Principal } from '@terrane/auth'
import { projectNotFound, type Credentials, type Project, type Projects } from '@terrane/control'
import { TerraneError } from '@terrane/core'
import { migrate, openDatabase } from '@terrane/database'
import type { GuardedFetch, Sealer } from '@terrane/service'
import { RemoteStore, type ArtifactStore, type openStore } from '@terrane/storage'
import {
  functionsOff,
  projectDatabaseRefused,
  projectRefMissing,
  targetIncomplete,
  targetNotAllowed,
  wrongRole,
} from '../errors.ts'
import type { JobRow, JobScope } from '../queue/job-row.ts'
import type { FunctionsAddress, OpenProject, ProjectDirectory } from './project-directory.ts'

/** Address and credentials of a project: from the control plane, or from the request where the pool allows it. */
type Target = Pick<Credentials, 'serviceRoleKey' | 'storageUrl'> & { readonly databaseUrl: string }

export interface SharedProjectsOptions {
  readonly projects: Projects
  readonly sealer: Sealer
  /** Credentials in projectTarget are accepted for projects that are not registered. */
  readonly allowTargets: boolean
  /** Setting of the pool's own storage, for projects without one. */
  readonly storage: string
  readonly storageOf: (setting: string) => ArtifactStore
  readonly fetch: GuardedFetch
  /** Resolves the host of a database URL that came with a request to an address that may be dialled. */
  readonly resolveHost: (hostname: string) => Promise<string>
  readonly onError: (error: Error) => void
}

/** Shared mode: projects of organizations, each reached by its own database URL and storage. */
export class SharedProjects implements ProjectDirectory {
  readonly #options: SharedProjectsOptions
  /** URLs of databases that were brought up to date. */
  readonly #migrated = new Set<string>()

  constructor(options: SharedProjectsOptions) {
    this.#options = options
  }

  async scope(principal: Principal, projectRef: string | undefined, path: string): Promise<JobScope> {
    if (!servesFor(principal, 'jobs')) throw wrongRole({ need: "the organization's Services API key" })
    if (projectRef === undefined) throw projectRefMissing({ path })
    const project = await this.#options.projects.reachable(principal, projectRef)
    if (!project && !this.#options.allowTargets) throw projectNotFound({ ref: projectRef })
    return scopeOf(principal.organizationId, projectRef, project)
  }

  async openForSubmit(scope: JobScope, given: ProjectTarget | undefined): Promise<OpenProject> {
    const { target, trusted } = await this.#targetOf(scope, given)
    return this.#openTarget(scope, target, trusted)
  }

  async open(row: JobRow): Promise<{ input: Record<string, unknown>; project: OpenProject }> {
    const input = this.#options.sealer.open(row.sealed_input, row.id) as Record<string, unknown>
    const { project_ref: projectRef, organization_id: organizationId, project_id: projectId } = row
    const scope = { projectRef, organizationId, projectId }
    const { target, trusted } = await this.#targetOf(scope, input['projectTarget'] as ProjectTarget | undefined)
    return { input, project: await this.#openTarget(scope, target, trusted) }
  }

  async scopeById(id: string): Promise<JobScope> {
    const { organizationId, ref } = await this.#options.projects.get(id)
    return { projectRef: ref, organizationId, projectId: id }
  }

  async functions(scope: JobScope): Promise<FunctionsAddress> {
    const known = scope.projectId === null ? {} : await this.#options.projects.credentials(scope.projectId)
    const { apiUrl, originUrl = apiUrl, serviceRoleKey } = known
    if (originUrl === undefined) throw functionsOff({ need: 'originUrl of the project' })
    if (serviceRoleKey === undefined) throw functionsOff({ need: 'serviceRoleKey of the project' })
    return { projectId: scope.projectId, url: originUrl.replace(/\/+$/, ''), key: serviceRoleKey }
  }

  /** The control plane has priority; the request's target is used only for projects whose database it does not know. */
  async #targetOf(scope: JobScope, given: ProjectTarget | undefined): Promise<{ target: Target; trusted: boolean }> {
    const { projects, allowTargets } = this.#options
    const { databaseUrl: known, ...rest } = scope.projectId ? await projects.credentials(scope.projectId) : {}
    if (known !== undefined) return { target: { ...rest, databaseUrl: known }, trusted: true }
    const credentials = given?.databaseUrl ?? given?.serviceRoleKey ?? given?.storageUrl
    if (credentials !== undefined && !allowTargets) throw targetNotAllowed()
    if (!given?.databaseUrl) {
      if (!allowTargets) throw projectNotFound({ ref: scope.projectRef })
      throw targetIncomplete({ field: 'databaseUrl' })
    }
    if (given.storageUrl && !given.serviceRoleKey) throw targetIncomplete({ field: 'serviceRoleKey' })
    const { databaseUrl, serviceRoleKey, storageUrl } = given
    return {
      target: { databaseUrl, ...(serviceRoleKey && { serviceRoleKey }), ...(storageUrl && { storageUrl }) },
      trusted: false,
    }
  }

  async #openTarget(scope: JobScope, target: Target, trusted: boolean): Promise<OpenProject> {
    const { resolveHost, onError } = this.#options
    const refused = (cause: unknown) => explained(cause, !trusted)
    const address = trusted ? undefined : await addressOf(target.databaseUrl, resolveHost)
    const project = await openDatabase({
      url: target.databaseUrl,
      ...(address !== undefined && { address }),
      max: 4,
      applicationName: 'terrane worker',
      onError,
    }).catch((cause: unknown) => {
      throw refused(cause)
    })
    try {
      if (!this.#migrated.has(target.databaseUrl)) {
        await migrate(project, ['project'])
        this.#migrated.add(target.databaseUrl)
      }
      const store = await this.#storeOf(scope, target)
      return { database: project, store, [Symbol.asyncDispose]: () => project.close() }
    } catch (error) {
      await project.close()
      throw refused(error)
    }
  }

  async #storeOf(scope: JobScope, target: Target): Promise<ArtifactStore> {
    const { projects, storage, storageOf, fetch } = this.#options
    if (target.storageUrl && target.serviceRoleKey) {
      return new RemoteStore({ url: target.storageUrl, serviceRoleKey: target.serviceRoleKey, fetch })
    }
    const folder = scope.projectId ? (await projects.get(scope.projectId)).folder : unregisteredFolder(scope)
    return storageOf(`${storage.replace(/\/+$/, '')}/projects/${folder}`)
  }
}

function scopeOf(organizationId: string | null, projectRef: string, project: Project | null): JobScope {
  return { projectRef, organizationId, projectId: project?.id ?? null }
}

/** Storage folder of an unregistered project, by organization, because two may use the same reference. */
function unregisteredFolder({ organizationId, projectRef }: JobScope): string {
  return `org.${organizationId}/ref.${projectRef}`
}

/** The address to dial for a database URL that came with a request. */
async function addressOf(databaseUrl: string, resolveHost: SharedProjectsOptions['resolveHost']): Promise<string> {
  const url = URL.parse(databaseUrl)
  if (!url || url.hostname === '') throw projectDatabaseRefused({ reason: 'it has no address', isOfRequest: true })
  try {
    return await resolveHost(url.hostname)
  } catch (cause) {
    if (!(cause instanceof TerraneError)) throw cause
    const errors = [{ path: '/projectTarget/databaseUrl', message: 'must have a public address' }]
    throw new TerraneError(cause.code, cause.kind, cause.message, { errors, cause })
  }
}

/** Reasons for which a server refuses the connection, by code (PostgreSQL manual, appendix A). */
const REFUSALS: Readonly<Record<string, string>> = {
  '28000': 'it refuses the role',
  '28P01': 'it refuses the password',
  '3D000': 'there is no such database on its server',
  '42501': 'its role lacks a right to set up the schemas',
}

function explained(cause: unknown, isOfRequest: boolean): unknown {
  const { code } = cause as { code?: unknown }
  const reason =
    cause instanceof URIError ? 'its URL is not well-formed' : typeof code === 'string' ? REFUSALS[code] : undefined
  return reason === undefined ? cause : projectDatabaseRefused({ reason, isOfRequest }, { cause })
}

/** The store of a setting, opened once per process and setting. */
export function storeCache(
  open: typeof openStore,
  aws: Parameters<typeof openStore>[1],
): (setting: string) => ReturnType<typeof openStore> {
  const stores = new Map<string, ReturnType<typeof openStore>>()
  return (setting) => {
    const store = stores.get(setting) ?? open(setting, aws)
    stores.set(setting, store)
    return store
  }
}
