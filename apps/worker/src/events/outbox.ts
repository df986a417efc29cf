import type { DeadLetter } from '@terrane/contracts/events'
import type { Database, Queryable } from '@terrane/database'

/** How long a worker holds an event without renewing its lease. */
const LEASE = `interval '30 seconds'`
/** Events of the lanes of `$1`, among which `queue:*` is every queue. */
const OF_LANES = `(lane = any($1) or ('queue:*' = any($1) and lane like 'queue:%'))`
/** Most events of a lane that a count looks at. */
const MOST_COUNTED = 1000

/** An event that this worker delivers now. */
export interface ClaimedEvent {
  readonly id: string
  readonly lane: string
  /** JSON text. */
  readonly body: string
  readonly attempts: number
  readonly created_at: Date
}

/** An attempt that failed. `most`: attempts until it is a dead letter. */
export interface FailedEvent {
  readonly id: string
  readonly most: number
  readonly statusCode: number | null
  readonly error: string
}

/** Events of a lane: counts up to 1000, and the age of the one that waits longest, in seconds. */
export interface LaneLoad {
  readonly lane: string
  readonly waiting: number
  readonly dead: number
  readonly oldest: number
}

/** The queries on `terrane.events` of a project, for one worker. */
export class Outbox {
  readonly #database: Database
  readonly #worker: string

  /** @param worker its name, by which it takes back what it held when it ended */
  constructor(database: Database, worker: string) {
    this.#database = database
    this.#worker = worker
  }

  /**
   * Claims events that are due, of each lane as many as it has places: the first of a key, and only while no other of the
   * key is being delivered or waits for its next attempt.
   */
  async claim(lanes: ReadonlyMap<string, number>): Promise<ClaimedEvent[]> {
    const { rows } = await this.#database.query<ClaimedEvent>(
      `with chosen as (
         select head.id from unnest($1::text[], $2::integer[]) wanted (lane, places) cross join lateral (
           select e.id from terrane.events e
           where e.lane = wanted.lane and e.dead_at is null and e.due_at <= clock_timestamp()
             and (e.leased_until is null or e.leased_until < clock_timestamp())
             -- Only so that what waits behind a key that fails is passed quickly.
             and (e.key is null or e.key <> all(array(
               select t.key from terrane.events t
               where t.lane = wanted.lane and t.key is not null and t.dead_at is null and t.attempts > 0
                 and (t.due_at > clock_timestamp() or t.leased_until >= clock_timestamp()))))
             and (e.key is null or not exists (
               select from terrane.events b
               where b.lane = e.lane and b.key = e.key and b.id < e.id and b.dead_at is null))
           order by e.id limit wanted.places for update skip locked) head
       )
       update terrane.events e set leased_by = $3, leased_until = clock_timestamp() + ${LEASE}, attempts = e.attempts + 1
       from chosen where e.id = chosen.id
       returning e.id::text, e.lane, e.body::text, e.attempts, e.created_at`,
      [[...lanes.keys()], [...lanes.values()], this.#worker],
    )
    return rows
  }

  /** Forgets what was delivered, and puts off or gives up what was not: after 1, 2, 4 … seconds, at most an hour. */
  async settle(delivered: readonly string[], failed: readonly FailedEvent[]): Promise<void> {
    if (delivered.length > 0)
      await this.#database.query('delete from terrane.events where id = any($1::bigint[]) and leased_by = $2', [
        delivered,
        this.#worker,
      ])
    if (failed.length === 0) return
    await this.#database.query(
      `update terrane.events e set leased_by = null, leased_until = null, status_code = f.code, error = f.error,
         due_at = clock_timestamp() + make_interval(secs => least(2 ^ (e.attempts - 1), 3600)),
         dead_at = case when e.attempts >= f.most then clock_timestamp() end
       from unnest($1::bigint[], $2::integer[], $3::integer[], $4::text[]) f (id, most, code, error)
       where e.id = f.id and e.leased_by = $5`,
      [
        failed.map(({ id }) => id),
        failed.map(({ most }) => most),
        failed.map(({ statusCode }) => statusCode),
        failed.map(({ error }) => error),
        this.#worker,
      ],
    )
  }

  /** Holds on to events whose delivery takes long. */
  async renew(ids: readonly string[]): Promise<void> {
    await this.#database.query(
      `update terrane.events set leased_until = clock_timestamp() + ${LEASE} where id = any($1::bigint[]) and leased_by = $2`,
      [ids, this.#worker],
    )
  }

  /** Gives back what this worker, or one of the same name before it, holds; its last attempt does not count. */
  async release(lanes: readonly string[]): Promise<void> {
    await this.#database.query(
      `update terrane.events set leased_by = null, leased_until = null, attempts = greatest(attempts - 1, 0)
       where lane = any($1) and dead_at is null and leased_by = $2`,
      [lanes, this.#worker],
    )
  }
}

/** How much waits in lanes, and how much was given up. */
export async function loadOf(database: Queryable, lanes: readonly string[]): Promise<LaneLoad[]> {
  const { rows } = await database.query<LaneLoad>(
    `select l.lane,
       (select count(*) from (select from terrane.events e where e.lane = l.lane and dead_at is null limit ${MOST_COUNTED}) w)::integer as waiting,
       (select count(*) from (select from terrane.events e where e.lane = l.lane and dead_at is not null limit ${MOST_COUNTED}) d)::integer as dead,
       coalesce(extract(epoch from clock_timestamp() - (
         select created_at from terrane.events e where e.lane = l.lane and dead_at is null order by id limit 1)), 0)::float8 as oldest
     from unnest($1::text[]) l (lane)`,
    [lanes],
  )
  return rows
}

/** A page of the dead letters of lanes, newest first. @param before the id that the page before ended with */
export async function listDead(
  database: Queryable,
  lanes: readonly string[],
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): Promise<DeadLetter[]> {
  const { rows } = await database.query<
    Omit<DeadLetter, 'created_at' | 'dead_at'> & { readonly created_at: Date; readonly dead_at: Date }
  >(
    `select id::text, lane, key, body, attempts, status_code, error, created_at, dead_at from terrane.events
     where ${OF_LANES} and dead_at is not null and ($2::bigint is null or id < $2) order by id desc limit $3`,
    [lanes, before ?? null, limit],
  )
  return rows.map((row) => ({
    ...row,
    created_at: row.created_at.toISOString(),
    dead_at: row.dead_at.toISOString(),
  }))
}

/**
 * Has dead letters delivered as new events, after what waits of their keys, or deletes them; returns how many.
 *
 * @param ids of them; null: all of the lanes
 */
export async function disposeOfDead(
  database: Queryable,
  action: 'resend' | 'delete',
  { lanes, ids }: { readonly lanes: readonly string[]; readonly ids: readonly string[] | null },
): Promise<number> {
  const change =
    action === 'delete'
      ? 'delete from terrane.events'
      : 'update terrane.events set id = default, dead_at = null, attempts = 0, due_at = clock_timestamp()'
  const { rowCount } = await database.query(
    `${change} where dead_at is not null and ${OF_LANES} and ($2::bigint[] is null or id = any($2))`,
    [lanes, ids],
  )
  return rowCount ?? 0
}
