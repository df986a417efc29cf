import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger, Sealer } from '@terrane/service'
import { scopeKey, type JobScope } from '../queue/job-row.ts'
import type { OpenProject, ProjectDirectory } from '../projects/project-directory.ts'
import type { Caller, Target } from './caller.ts'
import type { EventMetrics } from './event-metrics.ts'
import { Outbox, loadOf, type ClaimedEvent, type FailedEvent, type LaneLoad } from './outbox.ts'
import { laneOf, type HookRow } from './table-hook-store.ts'
import { hasTrigger, installTrigger } from './table-triggers.ts'

/** Time between two looks while nothing is due, and after a database that failed. */
const IDLE_MS = 500
const FAILED_MS = 5000
/** Time in which ends of deliveries are gathered before the next look. */
const GATHER_MS = 5
/** Deliveries of a lane at once, and of a project: a receiver that is slow holds up its own lane. */
const OF_LANE = 8
const OF_PROJECT = 64
const RENEW_MS = 10_000
/** How often triggers are looked at, which go with a table that an import replaces. */
const TRIGGERS_MS = 30_000

export interface EventsOptions {
  readonly projects: ProjectDirectory
  readonly sealer: Sealer
  readonly caller: Caller
  readonly logger: Logger
  readonly metrics: EventMetrics
  /** Name of this worker. */
  readonly workerId: string
}

/** Delivers the events of one project until it is stopped. */
export class ProjectEvents {
  readonly #options: EventsOptions
  readonly #scope: JobScope
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  /** Hooks by lane. */
  #hooks: ReadonlyMap<string, HookRow> = new Map()
  /** Lanes of the events that are being delivered, by id. */
  readonly #underWay = new Map<string, string>()
  #delivered: string[] = []
  #failed: FailedEvent[] = []
  #wake = Promise.withResolvers<void>()
  #database: OpenProject['database'] | null = null
  #triggersAt = 0

  constructor(options: EventsOptions, scope: JobScope) {
    this.#options = options
    this.#scope = scope
    this.#running = this.#run()
  }

  /** Says which hooks the project has now. */
  serve(hooks: readonly HookRow[]): void {
    const isKnown = hooks.length === this.#hooks.size && hooks.every(({ id }) => this.#hooks.has(laneOf(id)))
    this.#hooks = new Map(hooks.map((hook) => [laneOf(hook.id), hook]))
    if (!isKnown) this.#triggersAt = 0
  }

  /** What waits and was given up; empty while the database is not open. */
  async load(): Promise<LaneLoad[]> {
    return this.#database ? loadOf(this.#database, [...this.#hooks.keys()]) : []
  }

  /** Ends deliveries that are under way and gives their events back. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the worker stops'))
    this.#wake.resolve()
    await this.#running
  }

  async #run(): Promise<void> {
    const { logger } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#deliverAll(signal)
      } catch (error) {
        this.#database = null
        logger.warn({ err: error, project: scopeKey(this.#scope) }, 'events of a project could not be looked at')
        await sleep(FAILED_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  async #deliverAll(signal: AbortSignal): Promise<void> {
    await using project = await this.#options.projects.openForSubmit(this.#scope, undefined)
    this.#database = project.database
    const outbox = new Outbox(project.database, this.#options.workerId)
    if (this.#underWay.size === 0) await outbox.release([...this.#hooks.keys()])
    let renewAt = Date.now() + RENEW_MS
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers()
      if (Date.now() >= this.#triggersAt) {
        this.#triggersAt = Date.now() + TRIGGERS_MS
        await this.#mendTriggers(project)
      }
      await this.#settle(outbox)
      if (Date.now() >= renewAt) {
        await outbox.renew([...this.#underWay.keys()])
        renewAt = Date.now() + RENEW_MS
      }
      const places = this.#places()
      const claimed = places.size === 0 ? [] : await outbox.claim(places)
      for (const event of claimed) void this.#deliver(event)
      if (claimed.length === 0) await this.#pause(IDLE_MS)
      else await this.#pause(GATHER_MS)
    }
    await this.#ended()
    await this.#settle(outbox)
    await outbox.release([...this.#hooks.keys()])
  }

  /** Waits for the end of a delivery, and then for others that end with it. */
  async #pause(ms: number): Promise<void> {
    const over = new AbortController()
    await Promise.race([this.#wake.promise, sleep(ms, undefined, { signal: over.signal }).catch(() => {})])
    over.abort()
    if (ms > GATHER_MS) await sleep(GATHER_MS)
  }

  /** Free places by lane. */
  #places(): Map<string, number> {
    const places = new Map<string, number>()
    let free = OF_PROJECT - this.#underWay.size
    const taken = [...this.#underWay.values()]
    for (const lane of this.#hooks.keys()) {
      const count = Math.min(free, OF_LANE - taken.filter((other) => other === lane).length)
      if (count <= 0) continue
      places.set(lane, count)
      free -= count
    }
    return places
  }

  async #deliver(event: ClaimedEvent): Promise<void> {
    const hook = this.#hooks.get(event.lane)
    if (!hook) return
    this.#underWay.set(event.id, event.lane)
    try {
      await this.#attempt(event, hook)
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      this.#options.logger.warn({ err: error, hookId: hook.id }, 'an event could not be delivered')
      this.#failed.push({ id: event.id, most: hook.attempts, statusCode: null, error: 'it could not be sent' })
    } finally {
      this.#underWay.delete(event.id)
      this.#wake.resolve()
    }
  }

  async #attempt({ id, body, attempts, created_at: createdAt }: ClaimedEvent, hook: HookRow): Promise<void> {
    const { sealer, caller, logger, metrics } = this.#options
    const target = sealer.open(hook.sealed, hook.id) as Target
    const messageId = `evt_${hook.id.replaceAll('-', '')}_${id}`
    const attempt = await caller.post({
      scope: this.#scope,
      target,
      id: messageId,
      body,
      signal: this.#stopping.signal,
    })
    const { statusCode, error } = attempt
    if (error === null) {
      this.#delivered.push(id)
      return metrics.delivered((Date.now() - createdAt.getTime()) / 1000)
    }
    this.#failed.push({ id, most: hook.attempts, statusCode, error })
    const isDead = attempts >= hook.attempts
    metrics.failed(isDead)
    logger[isDead ? 'warn' : 'info'](
      { hookId: hook.id, table: hook.table_name, eventId: messageId, attempts, isDead, reason: error },
      'an event was not taken',
    )
  }

  /** Writes down how deliveries ended; what cannot be written now is written later. */
  async #settle(outbox: Outbox): Promise<void> {
    const [delivered, failed] = [this.#delivered, this.#failed]
    if (delivered.length + failed.length === 0) return
    ;[this.#delivered, this.#failed] = [[], []]
    try {
      await outbox.settle(delivered, failed)
    } catch (error) {
      this.#delivered.unshift(...delivered)
      this.#failed.unshift(...failed)
      throw error
    }
  }

  async #ended(): Promise<void> {
    while (this.#underWay.size > 0) await sleep(GATHER_MS)
  }

  /** Puts triggers that are missing on their tables, if these are there. */
  async #mendTriggers({ database }: OpenProject): Promise<void> {
    for (const hook of this.#hooks.values()) {
      if (await hasTrigger(database, hook)) continue
      try {
        await installTrigger(database, hook)
        this.#options.logger.info(
          { hookId: hook.id, table: hook.table_name },
          'the trigger of a table hook was missing',
        )
      } catch (error) {
        this.#options.logger.info({ hookId: hook.id, err: error }, 'a table hook has no table')
      }
    }
  }
}
