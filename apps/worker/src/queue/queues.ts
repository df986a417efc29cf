import type { PgBoss } from 'pg-boss'
import type { Task } from '../jobs/task.ts'

/** Runs of one job, at most: the first, and more when a worker is lost or an upstream fails. */
export const MAX_ATTEMPTS = 4
const HEARTBEAT_SECONDS = 15
const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Creates the queue of a task, or brings its settings up to date. */
export async function ensureQueue(boss: PgBoss, task: Pick<Task, 'name' | 'expireSeconds'>): Promise<void> {
  const settings = {
    notify: true,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    expireInSeconds: task.expireSeconds,
    retryLimit: MAX_ATTEMPTS - 1,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    retentionSeconds: 30 * 86_400,
    deleteAfterSeconds: 7 * 86_400,
  }
  if (await boss.getQueue(task.name)) await boss.updateQueue(task.name, settings)
  else await boss.createQueue(task.name, settings)
  // A send looks the queue up outside its transaction unless it is known already: on a database of one session the two
  // would wait for each other. This makes it known.
  await boss.touch(task.name, NIL_UUID)
}
