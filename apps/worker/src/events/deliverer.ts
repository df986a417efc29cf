import { DeclaredHooks, type DeclaredHooksOptions } from './declared-hooks.ts'
import { allLanes, type LanesOptions } from './lanes.ts'
import { ProjectEvents, type EventsOptions } from './project-events.ts'

const LOOK_MS = 2000

export type DelivererOptions = EventsOptions & LanesOptions & DeclaredHooksOptions

/** Delivers the events of projects with table hooks or consumers of queues; one worker holds an event at a time. */
export class EventDeliverer {
  readonly #options: DelivererOptions
  readonly #declared: DeclaredHooks
  readonly #projects = new Map<string, ProjectEvents>()
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> | null = null

  constructor(options: DelivererOptions) {
    this.#options = options
    this.#declared = new DeclaredHooks(options)
    options.metrics.watch(() => [...this.#projects.values()].map((project) => project.load()))
  }

  /** Delivers until {@link stop}. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => void this.look(), LOOK_MS)
    await this.look()
  }

  /** Reads changed hooks and consumers now, instead of within two seconds. */
  look(): Promise<void> {
    if (this.#timer === null) return Promise.resolve()
    const { logger } = this.#options
    this.#looking ??= this.#look()
      .catch((error: unknown) => logger.warn({ err: error }, 'table hooks and queues could not be looked at'))
      .finally(() => {
        this.#looking = null
      })
    return this.#looking
  }

  /** Aborts running deliveries; another worker delivers these events again. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    this.#timer = null
    await this.#looking
    await Promise.all([...this.#projects.values()].map((project) => project.stop()))
    this.#projects.clear()
  }

  async #look(): Promise<void> {
    await this.#declared.follow()
    const found = await allLanes(this.#options)
    for (const [key, { scope, lanes }] of found) {
      const project = this.#projects.get(key) ?? new ProjectEvents(this.#options, scope)
      this.#projects.set(key, project)
      project.serve(lanes)
    }
    for (const [key, project] of this.#projects) {
      if (found.has(key)) continue
      this.#projects.delete(key)
      void project.stop()
    }
  }
}
