import { quoteIdentifier, type Database, type Session } from '@terrane/database'

/** Maximum wait for a table that is in use. */
const LOCK_TIMEOUT = `set local lock_timeout = '3s'`

/** Name of the trigger of a table hook. It sorts after the user's triggers, which may still change the row. */
export function hookTriggerName(id: string): string {
  return `zz_terrane_hook_${id}`
}

/** The lane of the events of a table hook. */
export function hookLane(id: string): string {
  return `hook:${id}`
}

/** Changes a table within 3 s of waiting: a longer wait for its lock would block all later statements on it. */
export function changeHookedTable<T>(database: Database, work: (session: Session) => Promise<T>): Promise<T> {
  return database.transaction(async (session) => {
    await session.query(LOCK_TIMEOUT)
    return work(session)
  })
}

/** Drops the trigger of a hook, also of a renamed table; those of partitions go with that of their table. */
export async function dropHookTrigger(session: Session, id: string): Promise<void> {
  const name = hookTriggerName(id)
  const { rows } = await session.query<{ table: string }>(
    'select tgrelid::regclass::text as table from pg_trigger where tgname = $1 and tgparentid = 0',
    [name],
  )
  for (const { table } of rows) await session.query(`drop trigger if exists ${quoteIdentifier(name)} on ${table}`)
}
