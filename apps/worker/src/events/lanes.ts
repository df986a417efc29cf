import { hookLane } from '@terrane/control/hooks'
import type { Database } from '@terrane/database'
import type { Sealer } from '@terrane/service'
import type { ProjectDirectory } from '../projects/project-directory.ts'
import { scopeKey, scopeOf, type JobScope } from '../queue/job-row.ts'
import { makeSecret } from '../webhooks/sign.ts'
import type { Target } from './caller.ts'
import { openTarget } from './declared.ts'
import { LIVE_FUNCTIONS } from './function-limits.ts'
import { type HookRow, type TableHookStore } from './table-hook-store.ts'

/** Events of one hook or queue, and their receiver. */
export interface Lane {
  readonly name: string
  /** Attempts until an event is a dead letter. */
  readonly attempts: number
  /** Maximum events of one call; it is 1 when there is no second attempt, so that one event cannot fail others. */
  readonly batch: number
  /** The table hook; null for a queue. */
  readonly hook: HookRow | null
  /** @throws where the target cannot be opened */
  target(): Target
}

/** The lanes of a project. */
export interface ProjectLanes {
  readonly scope: JobScope
  readonly lanes: Lane[]
}

export interface LanesOptions {
  readonly database: Database
  readonly hooks: TableHookStore
  readonly sealer: Sealer
  readonly projects: Pick<ProjectDirectory, 'scopeById'>
}

/** Signs calls of consumers like other messages; functions know the platform by the service key. */
const SECRET = makeSecret()

/** The lanes that are delivered now, by project. */
export async function allLanes({
  database,
  hooks,
  sealer,
  projects,
}: LanesOptions): Promise<Map<string, ProjectLanes>> {
  const found = new Map<string, ProjectLanes>()
  const add = (scope: JobScope, lane: Lane) => {
    const known = found.get(scopeKey(scope))
    if (known) known.lanes.push(lane)
    else found.set(scopeKey(scope), { scope, lanes: [lane] })
  }
  for (const hook of await hooks.active()) {
    const target = () => openTarget(sealer, hook)
    add(scopeOf(hook), { name: hookLane(hook.id), attempts: hook.attempts, batch: 1, hook, target })
  }
  // A queue that several functions name is consumed by the first of them by name.
  const { rows } = await database.query<{
    project_id: string
    name: string
    queue: string
    batch: number
    attempts: number
  }>(
    `select distinct on (project_id, policy->>'queue') project_id, name, policy->>'queue' as queue,
       (policy->>'batch')::integer as batch, (policy->>'attempts')::integer as attempts
     from ${LIVE_FUNCTIONS} f where policy->>'queue' <> '' order by project_id, policy->>'queue', name`,
  )
  for (const { project_id: id, name, queue, batch, attempts } of rows) {
    const scope = await projects.scopeById(id)
    const target = { function: name, secret: SECRET }
    if (scope)
      add(scope, {
        name: `queue:${queue}`,
        attempts,
        batch: attempts === 1 ? 1 : batch,
        hook: null,
        target: () => target,
      })
  }
  return found
}
