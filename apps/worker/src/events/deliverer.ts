import { scopeKey, type JobScope } from '../queue/job-row.ts'
import { ProjectEvents, type EventsOptions } from './project-events.ts'
import { scopeOfHook, type HookRow, type TableHookStore } from './table-hook-store.ts'

const LOOK_MS = 2000

export interface DelivererOptions extends EventsOptions {
  readonly hooks: TableHookStore
}

/** Delivers the events of every project that has table hooks. Any number of workers may: an event is held by one. */
export class EventDeliverer {
  readonly #options: DelivererOptions
  readonly #projects = new Map<string, ProjectEvents>()
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> | null = null

  constructor(options: DelivererOptions) {
    this.#options = options
    options.metrics.watch(() => [...this.#projects.values()].map((project) => project.load()))
  }

  /** Delivers until {@link stop}. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.look(), LOOK_MS)
    await this.look()
  }

  /** Looks now, instead of within two seconds, for hooks that were changed. */
  look(): Promise<void> {
    if (this.#timer === null) return Promise.resolve()
    const { logger } = this.#options
    this.#looking ??= this.#look()
      .catch((error: unknown) => logger.warn({ err: error }, 'table hooks could not be looked at'))
      .finally(() => {
        this.#looking = null
      })
    return this.#looking
  }

  /** Ends what is under way, which is delivered again by another worker. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
    await this.#looking
    await Promise.all([...this.#projects.values()].map((project) => project.stop()))
    this.#projects.clear()
  }

  async #look(): Promise<void> {
    const byProject = new Map<string, { readonly scope: JobScope; readonly hooks: HookRow[] }>()
    for (const hook of await this.#options.hooks.active()) {
      const scope = scopeOfHook(hook)
      const known = byProject.get(scopeKey(scope))
      if (known) known.hooks.push(hook)
      else byProject.set(scopeKey(scope), { scope, hooks: [hook] })
    }
    for (const [key, { scope, hooks }] of byProject) {
      const project = this.#projects.get(key) ?? new ProjectEvents(this.#options, scope)
      this.#projects.set(key, project)
      project.serve(hooks)
    }
    for (const [key, project] of this.#projects) {
      if (byProject.has(key)) continue
      this.#projects.delete(key)
      void project.stop()
    }
  }
}
