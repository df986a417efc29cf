import type { Keys, Projects as Registered, ReachableProject } from '@terrane/control'
import { Connection, type ProjectKeys, type ServiceSettings } from './connections.ts'

/** A project as a member of its organization sees it. */
export interface Project {
  readonly id: string
  readonly ref: string
  readonly name: string
  readonly organization: { readonly id: string; readonly name: string }
  readonly createdAt: Date
  readonly connection: Connection
}

export interface ProjectsOptions {
  readonly registered: Registered
  /** Returns the key of an organization, and issues one when it is missing; null when no key can be encrypted. */
  readonly keys: Keys | null
  readonly settings: ServiceSettings
  /** Local mode: the keys of the one project. */
  readonly local: { readonly id: string; readonly keys: ProjectKeys } | null
}

/** The projects of a user: those of the organizations the user is a member of, and no others. */
export class Projects {
  readonly #options: ProjectsOptions

  constructor(options: ProjectsOptions) {
    this.#options = options
  }

  async list(userId: string): Promise<Project[]> {
    const found = await this.#options.registered.ofMember(userId)
    return Promise.all(found.map((project) => this.#toProject(project)))
  }

  /**
   * A project by reference, or by id where two organizations of the user have equal references.
   *
   * @throws PROJECT_NOT_FOUND, also for a project of another organization, and PROJECT_AMBIGUOUS
   */
  async get(userId: string, name: string): Promise<Project> {
    return this.#toProject(await this.#options.registered.ofMemberNamed(userId, name))
  }

  /**
   * The services of a project, by its id, for a page without sign-in; only public data may be read with them.
   *
   * @throws PROJECT_NOT_FOUND
   */
  async open(id: string): Promise<Connection> {
    return (await this.#toProject(await this.#options.registered.reach(id))).connection
  }

  async #toProject(project: ReachableProject): Promise<Project> {
    const keys = await this.#keysOf(project)
    const { id, ref, name, organizationId, organizationName, createdAt } = project
    const organization = { id: organizationId, name: organizationName }
    return { id, ref, name, organization, createdAt, connection: new Connection(this.#options.settings, keys) }
  }

  async #keysOf({ id, organizationId, credentials, servicesKey }: ReachableProject): Promise<ProjectKeys> {
    const { local, keys } = this.#options
    if (local?.id === id) return local.keys
    return {
      originUrl: credentials.originUrl ?? null,
      publicUrl: credentials.originUrl ?? null,
      anonKey: credentials.anonKey ?? null,
      serviceRoleKey: credentials.serviceRoleKey ?? null,
      servicesKey: (await keys?.servicesKeyOf(organizationId)) ?? servicesKey,
    }
  }
}
