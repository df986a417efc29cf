import type { Database } from '@terrane/database'
import type { Sealer } from '@terrane/service'
import { projectOf, type Project, type ProjectSettings, type Projects } from './project.ts'

/** The projects of a shared host, from the database; a request names its project by the host it is sent to. */
export class SharedProjects implements Projects, Disposable {
  private readonly database: Database
  private readonly sealer: Sealer
  private readonly suffix: string
  private readonly onLost: (error: unknown) => void
  private readonly projects = new Map<string, { readonly project: Project; readonly sealed: string }>()
  private readonly timer: NodeJS.Timeout

  /** @param domain requests to `{ref}.{domain}` are for project `{ref}` */
  constructor(parts: {
    readonly database: Database
    readonly sealer: Sealer
    readonly domain: string
    readonly pollMs: number
    readonly onLost: (error: unknown) => void
  }) {
    this.database = parts.database
    this.sealer = parts.sealer
    this.suffix = `.${parts.domain}`
    this.onLost = parts.onLost
    this.timer = setInterval(() => void this.look().catch(this.onLost), parts.pollMs)
    this.timer.unref()
  }

  refOf(host: string | undefined): string | null {
    const name = host?.replace(/:\d+$/, '').toLowerCase()
    if (!name?.endsWith(this.suffix)) return null
    const ref = name.slice(0, -this.suffix.length)
    return this.projects.has(ref) ? ref : null
  }

  get(ref: string): Project | null {
    return this.projects.get(ref)?.project ?? null
  }

  /** Stores the settings of a project, sealed. */
  async set(ref: string, settings: ProjectSettings): Promise<void> {
    await this.database.query(
      `insert into terrane.function_projects (ref, sealed_settings) values ($1, $2)
       on conflict (ref) do update set sealed_settings = excluded.sealed_settings, updated_at = clock_timestamp()`,
      [ref, this.sealer.seal(settings, contextOf(ref))],
    )
    await this.look()
  }

  /** Reads the projects; those whose settings have not changed keep their verifier. */
  async look(): Promise<void> {
    const { rows } = await this.database.query<{ ref: string; sealed: Buffer }>(
      'select ref, sealed_settings as sealed from terrane.function_projects',
    )
    const seen = new Set<string>()
    for (const { ref, sealed } of rows) {
      seen.add(ref)
      const text = sealed.toString('base64')
      if (this.projects.get(ref)?.sealed === text) continue
      const settings = this.sealer.open(sealed, contextOf(ref)) as ProjectSettings
      this.projects.set(ref, { sealed: text, project: projectOf(ref, settings) })
    }
    for (const ref of this.projects.keys()) if (!seen.has(ref)) this.projects.delete(ref)
  }

  [Symbol.dispose](): void {
    clearInterval(this.timer)
  }
}

function contextOf(ref: string): string {
  return `functions project ${ref}`
}
