import { openDatabase, type Database, type Queryable } from '@terrane/database'
import { projectBusy } from './errors.ts'
import { changeHookedTable, dropHookTrigger, hookLane } from './hook-triggers.ts'

/** Table hooks whose triggers stay in the database of a project, and why. */
export interface RemainingHooks {
  readonly ids: readonly string[]
  readonly reason: string
}

/**
 * Deletes a project, and the triggers of its table hooks from its own database.
 *
 * @param databaseUrl of its own database
 * @throws PROJECT_BUSY
 */
export async function deleteProject(
  database: Database,
  project: Named,
  databaseUrl: () => Promise<string | undefined>,
): Promise<RemainingHooks | null> {
  await refuseBusy(database, project)
  // No worker puts the trigger of a paused hook back on.
  const { rows } = await database.query<{ id: string }>(
    'update terrane.table_hooks set paused = true where project_id = $1 returning id',
    [project.id],
  )
  const ids = rows.map(({ id }) => id)
  const left = ids.length === 0 ? null : await tryToClear(databaseUrl, ids)
  await database.transaction(async (session) => {
    await refuseBusy(session, project)
    await session.query('delete from terrane.projects where id = $1', [project.id])
  })
  return left
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

async function tryToClear(
  databaseUrl: () => Promise<string | undefined>,
  ids: readonly string[],
): Promise<RemainingHooks | null> {
  try {
    const url = await databaseUrl()
    if (url === undefined) return { ids, reason: 'its database is not known' }
    await clearHooks(url, ids)
    return null
  } catch (error) {
    return { ids, reason: (error as Error).message }
  }
}

/**
 * Takes triggers and events of hooks out of the database of their project.
 *
 * @throws DATABASE_UNAVAILABLE, and errors of PostgreSQL
 */
async function clearHooks(databaseUrl: string, ids: readonly string[]): Promise<void> {
  await using database = await openDatabase({ url: databaseUrl, applicationName: 'terrane', max: 1 })
  for (const id of ids) await changeHookedTable(database, (session) => dropHookTrigger(session, id))
  await database.query('delete from terrane.events where lane = any($1)', [ids.map(hookLane)])
}
