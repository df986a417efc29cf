import { openDatabase, type Database, type Queryable } from '@terrane/database'
import { projectBusy } from './errors.ts'
import { changeHookedTable, dropHookTrigger, hookLane } from './hook-triggers.ts'

/** Table hooks whose triggers stay in the database of a project, and why. */
export interface RemainingHooks {
  readonly ids: readonly string[]
  readonly reason: string
}

/**
 * Deletes a project, and then the triggers of its table hooks from its own database. A project that is refused keeps its hooks.
 *
 * @param databaseUrl of its own database
 * @throws PROJECT_BUSY
 */
export async function deleteProject(
  database: Database,
  project: Named,
  databaseUrl: () => Promise<string | undefined>,
): Promise<RemainingHooks | null> {
  // The URL is read first, because credentials are deleted with the project.
  const url = await databaseUrl().catch((error: unknown) => error as Error)
  const ids = await database.transaction(async (session) => {
    // The lock prevents new jobs and hooks of the project.
    await session.query('select from terrane.projects where id = $1 for update', [project.id])
    await refuseBusy(session, project)
    const { rows } = await session.query<{ id: string }>(
      'delete from terrane.table_hooks where project_id = $1 returning id',
      [project.id],
    )
    await session.query('delete from terrane.projects where id = $1', [project.id])
    return rows.map(({ id }) => id)
  })
  return ids.length === 0 ? null : clearHooks(url, ids)
}

interface Named {
  readonly id: string
  readonly ref: string
}

async function refuseBusy(database: Queryable, { id, ref }: Named): Promise<void> {
  const { rows } = await database.query<{ jobs: number }>(
    `select count(*) as jobs from terrane.jobs where project_id = $1 and status in ('pending', 'running')`,
    [id],
  )
  const jobs = rows[0]?.jobs ?? 0
  if (jobs > 0) throw projectBusy({ ref, jobs })
}

/** Deletes triggers and events of hooks from the database of their project, one hook at a time. */
async function clearHooks(url: string | Error | undefined, ids: readonly string[]): Promise<RemainingHooks | null> {
  if (typeof url !== 'string') return { ids, reason: url ? reasonOf(url) : 'its database is not known' }
  const left: string[] = []
  let reason = ''
  try {
    await using database = await openDatabase({ url, applicationName: 'terrane', max: 1 })
    for (const id of ids) {
      try {
        await changeHookedTable(database, (session) => dropHookTrigger(session, id))
        await database.query('delete from terrane.events where lane = $1', [hookLane(id)])
      } catch (error) {
        left.push(id)
        reason ||= reasonOf(error)
      }
    }
  } catch (error) {
    return { ids, reason: reasonOf(error) }
  }
  return left.length === 0 ? null : { ids: left, reason }
}

/** A message on one line without control characters, which terminals would interpret. */
function reasonOf(error: unknown): string {
  return (error as Error).message.replaceAll(/\p{Cc}+/gu, ' ')
}
