import type { PgBoss, QueueOptions } from 'pg-boss'
import type { Task } from '../jobs/task.ts'
import { queueSettings } from './job-life.ts'

const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Creates the queue of a task, or brings its settings up to date. */
export function ensureQueue(boss: PgBoss, task: Pick<Task, 'name' | 'expireSeconds'>): Promise<void> {
  return openQueue(boss, task.name, queueSettings(task.expireSeconds))
}

/** Creates a queue, or brings its settings up to date. */
export async function openQueue(boss: PgBoss, name: string, settings: QueueOptions): Promise<void> {
  if (await boss.getQueue(name)) await boss.updateQueue(name, settings)
  else await boss.createQueue(name, settings)
  // A send looks the queue up outside its transaction unless it is known already: on a database of one session the two
  // would wait for each other. This makes it known.
  await boss.touch(name, NIL_UUID)
}
