import { keysOfProject, type OpenKeyring, type Projects as Registered, type ReachableProject } from '@terrane/control'
import { projectOf, type Project, type Projects } from './project.ts'

/** The projects of a shared host, read from the control plane. A request names its project by its host name. */
export class SharedProjects implements Projects, Disposable {
  readonly #registered: Registered
  readonly #keys: Pick<OpenKeyring, 'keyring' | 'revoked'>
  readonly #audiences: readonly string[]
  readonly #suffix: string
  readonly #onLost: (error: unknown) => void
  readonly #projects = new Map<string, { readonly project: Project; readonly facts: string; readonly label: string }>()
  #byLabel = new Map<string, string>()
  readonly #timer: NodeJS.Timeout

  /** @param domain requests to `{host label}.{domain}` are for the project of that label */
  constructor(parts: {
    readonly registered: Registered
    readonly keys: Pick<OpenKeyring, 'keyring' | 'revoked'>
    readonly audiences: readonly string[]
    readonly domain: string
    readonly pollMs: number
    readonly onLost: (error: unknown) => void
  }) {
    this.#registered = parts.registered
    this.#keys = parts.keys
    this.#audiences = parts.audiences
    this.#suffix = `.${parts.domain}`
    this.#onLost = parts.onLost
    this.#timer = setInterval(() => void this.look().catch(this.#onLost), parts.pollMs)
    this.#timer.unref()
  }

  idOf(host: string | undefined): string | null {
    const name = host?.replace(/:\d+$/, '').toLowerCase()
    if (!name?.endsWith(this.#suffix)) return null
    return this.#byLabel.get(name.slice(0, -this.#suffix.length)) ?? null
  }

  get(id: string): Project | null {
    return this.#projects.get(id)?.project ?? null
  }

  named(name: string): readonly Project[] {
    return [...this.#projects.values()]
      .map(({ project }) => project)
      .filter((project) => project.ref === name || project.id === name)
  }

  /** Reads the projects. Unchanged ones keep their verifier. A project without an address has no functions. */
  async look(): Promise<void> {
    const seen = new Set<string>()
    for (const found of await this.#registered.allReachable(this.#onLost)) {
      const { id, ref, folder, hostLabel: label, credentials, servicesKey } = found
      const apiUrl = apiOf(found)
      if (apiUrl === undefined) continue
      seen.add(id)
      const facts = JSON.stringify([ref, folder, label, credentials, servicesKey])
      if (this.#projects.get(id)?.facts === facts) continue
      const { serviceRoleKey: serviceKey, ...rest } = credentials
      const publicUrl = rest.originUrl ?? apiUrl
      const settings = {
        ...rest,
        apiUrl,
        publicUrl,
        serviceKey,
        servicesKey: rest.servicesKey ?? servicesKey ?? undefined,
      }
      const project = projectOf({ id, ref, folder }, settings, this.#audiences, keysOfProject(this.#keys, id))
      this.#projects.set(id, { project, facts, label })
    }
    for (const id of this.#projects.keys()) if (!seen.has(id)) this.#projects.delete(id)
    this.#byLabel = new Map([...this.#projects].map(([id, { label }]) => [label, id]))
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

function apiOf({ credentials: { apiUrl, originUrl } }: ReachableProject): string | undefined {
  return apiUrl ?? originUrl
}
