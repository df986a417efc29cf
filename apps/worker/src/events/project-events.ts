import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@terrane/service'
import { scopeKey, type JobScope } from '../queue/job-row.ts'
import type { OpenProject, ProjectDirectory } from '../projects/project-directory.ts'
import type { Caller } from './caller.ts'
import { batchOf, batches, depthHeader, messageId } from './messages.ts'
import type { EventMetrics } from './event-metrics.ts'
import type { Lane } from './lanes.ts'
import { Outbox, loadOf, type ClaimedEvent, type FailedEvent, type LaneLoad, type LanePlaces } from './outbox.ts'
import type { TableHookStore } from './table-hook-store.ts'
import { mendTrigger } from './table-triggers.ts'

/** Polling interval while nothing is due, its maximum after doubling, and the pause after a database error. */
const IDLE_MS = 500
const MOST_IDLE_MS = 2000
const FAILED_MS = 5000
/** Time after which a project is opened again, because its database may move. */
const OPEN_MS = 60_000
/** Wait for further deliveries to end before the next poll. */
const GATHER_MS = 5
/** Concurrent deliveries of a lane and of a project, so that a slow receiver delays its own lane only. */
const OF_LANE = 8
const OF_PROJECT = 64
/** Maximum bytes of bodies in flight, besides the first event of each lane. */
const MOST_BYTES = 16 << 20
const RENEW_MS = 10_000
/** Interval of the trigger check: an import that replaces a table drops its trigger. */
const TRIGGERS_MS = 30_000
/** Interval of the removal of old events. */
const EXPIRE_MS = 3_600_000
/** Code of the functions host for a chain of functions that is too long. */
const RECURSION = 'FUNCTION_RECURSION'
const TOO_DEEP = `${RECURSION}: functions have called each other too often, by changes of rows, messages or requests; look for a function that changes the table, or sends to the queue, by which it is called; one that goes on by calling itself needs a greater max_chain in its function.json`

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
  /** Events that are being delivered, by id, with the lanes of the deliveries. */
  readonly #underWay = new Map<string, ClaimedEvent>()
  readonly #deliveries = new Map<object, string>()
  #delivered: string[] = []
  #failed: FailedEvent[] = []
  #wake = Promise.withResolvers<void>()
  #database: OpenProject['database'] | null = null
  /** Times of `performance.now`. */
  #triggersAt = 0
  #expireAt = 0
  #mending: Promise<void> | null = null
  /** Index of the lane that comes first in the next round. */
  #turn = 0

  constructor(options: EventsOptions, scope: JobScope) {
    this.#options = options
    this.#scope = scope
    this.#running = this.#run()
  }

  /** Sets the lanes of the project. */
  serve(lanes: readonly Lane[]): void {
    const isKnown = lanes.length === this.#lanes.size && lanes.every(({ name }) => this.#lanes.has(name))
    this.#lanes = new Map(lanes.map((lane) => [lane.name, lane]))
    if (isKnown) return
    this.#triggersAt = 0
    this.#wake.resolve()
  }

  /** Waiting and dead events; empty while the database is not open. */
  async load(): Promise<LaneLoad[]> {
    return this.#database ? loadOf(this.#database, null) : []
  }

  /** Aborts running deliveries and releases their events. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the worker stops'))
    this.#wake.resolve()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#deliverAll(signal)
      } catch (error) {
        this.#database = null
        this.#warn(error, 'events of a project could not be looked at')
        await sleep(FAILED_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  async #deliverAll(signal: AbortSignal): Promise<void> {
    await using project = await this.#options.projects.openForSubmit(this.#scope, undefined)
    this.#database = project.database
    const outbox = new Outbox(project.database, this.#options.workerId)
    // Leases are renewed beside the rounds, so that a slow claim lets none lapse.
    const renewing = setInterval(() => {
      outbox.renew(this.#held()).catch((error: unknown) => this.#warn(error, 'events of a project could not be held'))
    }, RENEW_MS)
    try {
      await this.#settle(outbox)
      await outbox.release([...this.#lanes.keys()], this.#held())
      await this.#rounds(project, outbox, signal)
      if (!signal.aborted) return
      await this.#ended()
      await this.#settle(outbox)
      await outbox.release([...this.#lanes.keys()], [])
    } finally {
      clearInterval(renewing)
      await this.#mending
    }
  }

  async #rounds(project: OpenProject, outbox: Outbox, signal: AbortSignal): Promise<void> {
    const end = performance.now() + OPEN_MS
    let idleMs = IDLE_MS
    while (!signal.aborted && performance.now() < end) {
      this.#wake = Promise.withResolvers()
      await this.#look(project, outbox)
      await this.#settle(outbox)
      const places = this.#places()
      let left = MOST_BYTES
      for (const { body } of this.#underWay.values()) left -= Buffer.byteLength(body)
      const claimed = places.length === 0 ? [] : await outbox.claim(places, left, this.#held())
      this.#begin(claimed)
      await this.#pause(claimed.length === 0 ? idleMs : GATHER_MS)
      idleMs = claimed.length === 0 ? Math.min(2 * idleMs, MOST_IDLE_MS) : IDLE_MS
    }
  }

  /** Checks triggers and removes old events at their intervals, beside the deliveries. */
  async #look(project: OpenProject, outbox: Outbox): Promise<void> {
    const now = performance.now()
    if (now >= this.#triggersAt && !this.#mending) {
      this.#triggersAt = now + TRIGGERS_MS
      this.#mending = this.#mendTriggers(project)
        .catch((error: unknown) => this.#warn(error, 'table hooks of a project could not be looked at'))
        .finally(() => (this.#mending = null))
    }
    if (now < this.#expireAt) return
    this.#expireAt = now + EXPIRE_MS
    await outbox.expire([...this.#lanes.keys()])
  }

  /** Ids of events that this worker is delivering, or has delivered without storing the result yet. */
  #held(): string[] {
    return [...this.#underWay.keys(), ...this.#delivered, ...this.#failed.map(({ id }) => id)]
  }

  #warn(error: unknown, text: string): void {
    this.#options.logger.warn({ err: error, project: scopeKey(this.#scope) }, text)
  }

  /** Waits for the end of a delivery, and then for others that end with it. */
  async #pause(ms: number): Promise<void> {
    const over = new AbortController()
    await Promise.race([this.#wake.promise, sleep(ms, undefined, { signal: over.signal }).catch(() => {})])
    over.abort()
    if (ms > GATHER_MS) await sleep(GATHER_MS)
  }

  /** Calls that may start, by lane. A lane without a call always gets one; the lanes share the others in turn. */
  #places(): LanePlaces[] {
    const all = [...this.#lanes.values()]
    const first = this.#turn++ % Math.max(all.length, 1)
    const taken = Map.groupBy(this.#deliveries.values(), (name) => name)
    let free = OF_PROJECT - this.#deliveries.size
    const places: LanePlaces[] = []
    for (const { name, batch } of [...all.slice(first), ...all.slice(0, first)]) {
      const own = taken.get(name)?.length ?? 0
      const calls = Math.max(Math.min(free, OF_LANE - own), own === 0 ? 1 : 0)
      if (calls <= 0) continue
      places.push({ name, calls, batch })
      free -= calls
    }
    return places
  }

  /** Starts deliveries: in batches, but events that failed before one by one, so that they cannot fail others. */
  #begin(claimed: readonly ClaimedEvent[]): void {
    for (const [name, own] of Map.groupBy(claimed, ({ lane }) => lane)) {
      const lane = this.#lanes.get(name)
      // The lane was removed while its events were claimed; their leases lapse.
      if (!lane) continue
      const first = own.filter(({ attempts }) => attempts === 1)
      for (const batch of batches(first, lane.batch)) void this.#deliver(batch, lane)
      for (const event of own) if (event.attempts > 1) void this.#deliver([event], lane)
    }
  }

  async #deliver(events: readonly ClaimedEvent[], lane: Lane): Promise<void> {
    for (const event of events) this.#underWay.set(event.id, event)
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
      target: () => lane.target(),
      id: messageId(lane, events),
      body: lane.hook ? first!.body : batchOf(lane, events),
      headers: { ...(!lane.hook && { 'x-terrane-queue': '1' }), ...depthHeader(events) },
      signal: this.#stopping.signal,
    })
    const { error, statusCode, code } = attempt
    if (code === RECURSION && events.length === 1)
      return this.#fail(events, { ...lane, attempts: 0 }, { error: TOO_DEEP, statusCode })
    // The host refused the batch because of one message, before the function ran. So each event is sent alone.
    if (code === RECURSION) {
      for (const event of events) await this.#attempt([event], lane)
      return
    }
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

  /** Stores the results of deliveries; after a database error they are stored later. */
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

  /** Installs missing triggers on the tables of hooks, where the tables exist. */
  async #mendTriggers({ database }: OpenProject): Promise<void> {
    const { hooks, logger } = this.#options
    for (const { hook } of this.#lanes.values()) {
      if (!hook) continue
      const facts = { hookId: hook.id, table: hook.table_name }
      try {
        if (await mendTrigger(database, hook, () => hooks.isActive(hook.id)))
          logger.info(facts, 'the trigger of a table hook was missing')
      } catch (error) {
        logger.warn({ ...facts, err: error }, 'a table hook hears nothing of its table')
        // Other busy tables would each take seconds, too.
        if ((error as { code?: string }).code === 'TABLE_BUSY') return
      }
    }
  }
}
