import type { PgBoss } from 'pg-boss'
import type { Task } from '../jobs/task.ts'
import { queueSettings } from './job-life.ts'

const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Creates the queue of a task, or brings its settings up to date. */
export async function ensureQueue(boss: PgBoss, task: Pick<Task, 'name' | 'expireSeconds'>): Promise<void> {
  const settings = queueSettings(task.expireSeconds)
  if (await boss.getQueue(task.name)) await boss.updateQueue(task.name, settings)
  else await boss.createQueue(task.name, settings)
  // A send looks the queue up outside its transaction unless it is known already: on a database of one session the two
  // would wait for each other. This makes it known.
  await boss.touch(task.name, NIL_UUID)
}
