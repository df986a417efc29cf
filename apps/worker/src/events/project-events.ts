import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@terrane/service'
import { scopeKey, type JobScope } from '../queue/job-row.ts'
import type { OpenProject, ProjectDirectory } from '../projects/project-directory.ts'
import type { Caller } from './caller.ts'
import type { EventMetrics } from './event-metrics.ts'
import type { Lane } from './lanes.ts'
import { Outbox, loadOf, type ClaimedEvent, type FailedEvent, type LaneLoad } from './outbox.ts'
import type { TableHookStore } from './table-hook-store.ts'
import { hasTrigger, installTrigger, removeTrigger } from './table-triggers.ts'

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
  readonly hooks: Pick<TableHookStore, 'isActive'>
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
  /** Lanes by name. */
  #lanes: ReadonlyMap<string, Lane> = new Map()
  /** Ids of the events that are being delivered, and the lanes of the deliveries. */
  readonly #underWay = new Set<string>()
  readonly #deliveries = new Map<object, string>()
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

  /** Says which lanes the project has now. */
  serve(lanes: readonly Lane[]): void {
    const isKnown = lanes.length === this.#lanes.size && lanes.every(({ name }) => this.#lanes.has(name))
    this.#lanes = new Map(lanes.map((lane) => [lane.name, lane]))
    if (!isKnown) this.#triggersAt = 0
  }

  /** What waits and was given up; empty while the database is not open. */
  async load(): Promise<LaneLoad[]> {
    return this.#database ? loadOf(this.#database, [...this.#lanes.keys()]) : []
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
    if (this.#underWay.size === 0) await outbox.release([...this.#lanes.keys()])
    let renewAt = Date.now() + RENEW_MS
    while (!signal.aborted) {
      this.#wake = Promise.withResolvers()
      if (Date.now() >= this.#triggersAt) {
        this.#triggersAt = Date.now() + TRIGGERS_MS
        await this.#mendTriggers(project)
      }
      await this.#settle(outbox)
      if (Date.now() >= renewAt) {
        await outbox.renew([...this.#underWay])
        renewAt = Date.now() + RENEW_MS
      }
      const places = this.#places()
      const claimed = places.size === 0 ? [] : await outbox.claim(places)
      this.#begin(claimed)
      if (claimed.length === 0) await this.#pause(IDLE_MS)
      else await this.#pause(GATHER_MS)
    }
    await this.#ended()
    await this.#settle(outbox)
    await outbox.release([...this.#lanes.keys()])
  }

  /** Waits for the end of a delivery, and then for others that end with it. */
  async #pause(ms: number): Promise<void> {
    const over = new AbortController()
    await Promise.race([this.#wake.promise, sleep(ms, undefined, { signal: over.signal }).catch(() => {})])
    over.abort()
    if (ms > GATHER_MS) await sleep(GATHER_MS)
  }

  /** Events that may be claimed, by lane. */
  #places(): Map<string, number> {
    const places = new Map<string, number>()
    let free = OF_PROJECT - this.#deliveries.size
    const taken = [...this.#deliveries.values()]
    for (const { name, batch } of this.#lanes.values()) {
      const count = Math.min(free, OF_LANE - taken.filter((other) => other === name).length)
      if (count <= 0) continue
      places.set(name, count * batch)
      free -= count
    }
    return places
  }

  /** Begins deliveries: by batches, but one by one what failed before, so that one message does not spoil others. */
  #begin(claimed: readonly ClaimedEvent[]): void {
    for (const lane of this.#lanes.values()) {
      const own = claimed.filter((event) => event.lane === lane.name)
      const [first, again] = [own.filter(({ attempts }) => attempts === 1), own.filter(({ attempts }) => attempts > 1)]
      for (let i = 0; i < first.length; i += lane.batch) void this.#deliver(first.slice(i, i + lane.batch), lane)
      for (const event of again) void this.#deliver([event], lane)
    }
  }

  async #deliver(events: readonly ClaimedEvent[], lane: Lane): Promise<void> {
    for (const { id } of events) this.#underWay.add(id)
    this.#deliveries.set(events, lane.name)
    try {
      await this.#attempt(events, lane)
    } catch (error) {
      if (this.#stopping.signal.aborted) return
      this.#options.logger.warn({ err: error, lane: lane.name }, 'an event could not be delivered')
      this.#fail(events, lane, { statusCode: null, error: 'it could not be sent' })
    } finally {
      for (const { id } of events) this.#underWay.delete(id)
      this.#deliveries.delete(events)
      this.#wake.resolve()
    }
  }

  async #attempt(events: readonly ClaimedEvent[], lane: Lane): Promise<void> {
    const { caller, metrics } = this.#options
    const [first] = events
    const attempt = await caller.post({
      scope: this.#scope,
      target: lane.target(),
      id: messageId(lane, first!.id),
      body: lane.hook ? first!.body : batchOf(lane, events),
      signal: this.#stopping.signal,
    })
    const { error, statusCode } = attempt
    if (error !== null) return this.#fail(events, lane, { error, statusCode })
    for (const { id, created_at: createdAt } of events) {
      this.#delivered.push(id)
      metrics.delivered((Date.now() - createdAt.getTime()) / 1000)
    }
  }

  #fail(
    events: readonly ClaimedEvent[],
    { name, hook, attempts: most }: Lane,
    { statusCode, error }: Pick<FailedEvent, 'statusCode' | 'error'>,
  ): void {
    const { logger, metrics } = this.#options
    for (const { id, attempts } of events) {
      this.#failed.push({ id, most, statusCode, error })
      const isDead = attempts >= most
      metrics.failed(isDead)
      const facts = { lane: name, table: hook?.table_name, eventId: id, attempts, isDead, reason: error }
      logger[isDead ? 'warn' : 'info'](facts, 'an event was not taken')
    }
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
    const { hooks, logger } = this.#options
    for (const { hook } of this.#lanes.values()) {
      if (!hook || (await hasTrigger(database, hook)) || !(await hooks.isActive(hook.id))) continue
      const facts = { hookId: hook.id, table: hook.table_name }
      try {
        await installTrigger(database, hook)
        logger.info(facts, 'the trigger of a table hook was missing')
        // A hook that is paused or deleted meanwhile takes its trigger away after that is said, so one of both does.
        if (!(await hooks.isActive(hook.id))) await removeTrigger(database, hook)
      } catch (error) {
        logger.info({ ...facts, err: error }, 'a table hook has no table')
      }
    }
  }
}

/** The same at each attempt of a single event. */
function messageId({ name, hook }: Lane, id: string): string {
  return `evt_${hook ? hook.id.replaceAll('-', '') : name.slice('queue:'.length)}_${id}`
}

/** The body of a call of a consumer; bodies are JSON already. */
function batchOf({ name }: Lane, events: readonly ClaimedEvent[]): string {
  const messages = events.map(({ id, body, attempts, created_at: createdAt }) => {
    const facts = JSON.stringify({ id, attempts, created_at: createdAt.toISOString() })
    return `${facts.slice(0, -1)},"body":${body}}`
  })
  return `{"type":"queue","queue":${JSON.stringify(name.slice('queue:'.length))},"messages":[${messages.join(',')}]}`
}
