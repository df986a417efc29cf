import type { DeadLetter } from '@terrane/contracts/events'
import type { Database, Queryable } from '@terrane/database'

/** Time for which a worker holds an event without renewing its lease. */
const LEASE = `interval '30 seconds'`
/** SQL condition for events of the lanes in `$1`, where `queue:*` stands for every queue. */
const OF_LANES = `(lane = any($1) or ('queue:*' = any($1) and lane like 'queue:%'))`
/** Maximum events of a lane that are counted. */
const MOST_COUNTED = 1000

/** Retention of dead letters, and of events of lanes without a hook or a consumer. */
const KEPT = `interval '30 days'`
/** Claims due events of lane $1 for worker $6, except ids $5: up to $4 bytes and $2 places, $3 for each retried one. */
const CLAIM = `with due as materialized (
     select e.id, e.attempts, octet_length(e.body::text) as bytes from terrane.events e
     where e.lane = $1 and e.dead_at is null and e.due_at <= clock_timestamp()
       and (e.leased_until is null or e.leased_until < clock_timestamp()) and e.id <> all($5::bigint[])
       -- Only so that what waits behind the first of a key is passed quickly: a set that is made once.
       and (e.key is null or e.key not in (
         select t.key from terrane.events t
         where t.lane = $1 and t.key is not null and t.dead_at is null and (t.attempts > 0 or t.due_at > t.created_at)
           and (t.due_at > clock_timestamp() or t.leased_until >= clock_timestamp())))
       and (e.key is null or e.id = (
         select b.id from terrane.events b where b.lane = $1 and b.key = e.key and b.dead_at is null order by b.id limit 1))
     order by e.id limit $2 for update of e skip locked
   ), summed as (
     select id, sum(case when attempts > 0 then $3::integer else 1 end) over w as places, sum(bytes) over w as bytes,
       row_number() over w as place
     from due window w as (order by id)
   )
   update terrane.events e set leased_by = $6, leased_until = clock_timestamp() + ${LEASE}, attempts = e.attempts + 1
   where e.id = any(array(select id from summed where places <= $2 and (bytes <= $4 or place = 1)))
   returning e.id::text, e.lane, e.body::text, e.attempts, e.created_at, e.depth`

/** Keeps the plan fast for any number of events, also before statistics exist: only index scans, no JIT. */
const PLAN =
  ['jit', 'enable_seqscan', 'enable_bitmapscan', 'enable_sort'].map((name) => `set local ${name} = off`).join('; ') +
  `; set local work_mem = '32MB'`

/** A lane, and the number of calls that events are claimed for. `batch`: maximum events of a call. */
export interface LanePlaces {
  readonly name: string
  readonly calls: number
  readonly batch: number
}

/** An event that this worker delivers now. */
export interface ClaimedEvent {
  readonly id: string
  readonly lane: string
  /** JSON text. */
  readonly body: string
  readonly attempts: number
  readonly created_at: Date
  /** Signed depth of the chain of functions that caused it; null outside of one. */
  readonly depth: string | null
}

/** An attempt that failed. `most`: attempts until it is a dead letter. */
export interface FailedEvent {
  readonly id: string
  readonly most: number
  readonly statusCode: number | null
  readonly error: string
}

/** Load of a lane: its events up to 1000, and the seconds since the oldest one was due. */
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

  /** @param worker its name, by which it reclaims the events it held before a restart */
  constructor(database: Database, worker: string) {
    this.#database = database
    this.#worker = worker
  }

  /**
   * Claims events that are due, for each lane in turn: the first of a key, and only while no other of the key is being
   * delivered or waits for its next attempt. An event that failed before takes the places of a whole batch.
   *
   * @param bytes maximum size of the claimed bodies, besides the first event of each lane
   * @param held ids that this worker holds, even if their leases have lapsed
   */
  async claim(lanes: readonly LanePlaces[], bytes: number, held: readonly string[]): Promise<ClaimedEvent[]> {
    return this.#database.transaction(async (session) => {
      await session.query(PLAN)
      const claimed: ClaimedEvent[] = []
      let left = bytes
      for (const { name, calls, batch } of lanes) {
        const { rows } = await session.query<ClaimedEvent>(CLAIM, [
          name,
          calls * batch,
          batch,
          left,
          held,
          this.#worker,
        ])
        for (const row of rows) left -= Buffer.byteLength(row.body)
        claimed.push(...rows.toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id))))
      }
      return claimed
    })
  }

  /** Deletes delivered events; postpones failed ones by 1, 2, 4 … s, at most an hour, or makes them dead letters. */
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

  /** Renews the leases of events whose delivery takes long. */
  async renew(ids: readonly string[]): Promise<void> {
    await this.#database.query(
      `update terrane.events set leased_until = clock_timestamp() + ${LEASE} where id = any($1::bigint[]) and leased_by = $2`,
      [ids, this.#worker],
    )
  }

  /** Releases the events leased by this name, except `held` ones, without counting the attempt. */
  async release(lanes: readonly string[], held: readonly string[]): Promise<void> {
    await this.#database.query(
      `update terrane.events set leased_by = null, leased_until = null, attempts = greatest(attempts - 1, 0)
       where lane = any($1) and dead_at is null and leased_by = $2 and id <> all($3::bigint[])`,
      [lanes, this.#worker, held],
    )
  }

  /** Deletes dead letters, and events of other lanes than these, after 30 days. */
  async expire(lanes: readonly string[]): Promise<void> {
    await this.#database.query(
      `delete from terrane.events
       where dead_at < clock_timestamp() - ${KEPT} or (dead_at is null and due_at < clock_timestamp() - ${KEPT} and lane <> all($1))`,
      [lanes],
    )
  }
}

function laneAfter(lane: string): string {
  return `(select least(
    (select min(lane) from terrane.events where dead_at is null and lane > ${lane}),
    (select min(lane) from terrane.events where dead_at is not null and lane > ${lane})))`
}

/** Numbers of waiting and dead events in lanes, each up to 1000. @param lanes null: all that have events */
export async function loadOf(database: Queryable, lanes: readonly string[] | null): Promise<LaneLoad[]> {
  const { rows } = await database.query<LaneLoad>(
    `with recursive had (lane) as (
       select ${laneAfter("''")} where $1::text[] is null union all select ${laneAfter('had.lane')} from had where had.lane is not null
     )
     select l.lane,
       (select count(*) from (select from terrane.events e where e.lane = l.lane and dead_at is null limit ${MOST_COUNTED}) w)::integer as waiting,
       (select count(*) from (select from terrane.events e where e.lane = l.lane and dead_at is not null limit ${MOST_COUNTED}) d)::integer as dead,
       coalesce(extract(epoch from clock_timestamp() - (select min(due_at) from (
         select due_at from terrane.events e where e.lane = l.lane and dead_at is null order by id limit ${MOST_COUNTED}) w)), 0)::float8 as oldest
     from (select unnest($1::text[]) union all select lane from had) l (lane) where l.lane is not null`,
    [lanes],
  )
  return rows
}

/** A page of the dead letters of lanes, newest first. @param before last id of the previous page */
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

/** Resends dead letters behind waiting events of their keys, or deletes them; returns how many. @param ids null: all */
export async function disposeOfDead(
  database: Queryable,
  action: 'resend' | 'delete',
  { lanes, ids }: { readonly lanes: readonly string[]; readonly ids: readonly string[] | null },
): Promise<number> {
  const chosen = `delete from terrane.events where dead_at is not null and ${OF_LANES} and ($2::bigint[] is null or id = any($2))`
  const { rowCount } = await database.query(
    action === 'delete'
      ? chosen
      : // `order by` gives the new ids the order of the old ones.
        `with chosen as (${chosen} returning *)
         insert into terrane.events (lane, key, body, created_at) select lane, key, body, created_at from chosen order by id`,
    [lanes, ids],
  )
  return rowCount ?? 0
}
