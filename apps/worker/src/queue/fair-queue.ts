import type { Session } from '@terrane/database'
import { scopeKey, type JobScope } from './job-row.ts'

/** Row key of the project served last; no project has an empty reference. */
const SERVED = ''

/**
 * The turn of a new job: start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996) with jobs of equal size. It
 * comes after the project's last one, but never before the one that was served last. So jobs of a project run in the
 * order of submission, projects take turns, and an idle project gains no advantage. The row of the project stays locked
 * until the transaction ends, so that two jobs of a project get different turns. Call this late in the transaction, to
 * keep the lock short.
 *
 * @param count number of jobs; they get consecutive turns
 * @returns the first turn, a number from 1; smaller ones are served first
 */
export async function takeTurn(session: Session, scope: JobScope, task: string, count = 1): Promise<number> {
  const { rows } = await session.query<{ turn: number }>(
    `insert into terrane.turns as mine (task, project, turn)
       values ($1, $2, $4 + coalesce((select turn from terrane.turns where task = $1 and project = $3), 0))
     on conflict (task, project) do update set turn = greatest(mine.turn + $4, excluded.turn)
     returning turn`,
    [task, scopeKey(scope), SERVED, count],
  )
  return rows[0]!.turn - count + 1
}

/** Records the turn of a task that is being served. A job that is served a second time changes nothing. */
export async function serveTurn(session: Session, task: string, turn: number): Promise<void> {
  await session.query(
    `insert into terrane.turns as served (task, project, turn) values ($1, $2, $3)
     on conflict (task, project) do update set turn = excluded.turn where served.turn < excluded.turn`,
    [task, SERVED, turn],
  )
}
