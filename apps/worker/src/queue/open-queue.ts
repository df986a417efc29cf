import type { PgBoss, QueueOptions } from 'pg-boss'
import type { Task } from '../jobs/task.ts'
import { queueSettings } from './job-life.ts'

const NIL_UUID = '00000000-0000-0000-0000-000000000000'

/** Creates the queue of a task, or updates its settings. */
export function ensureQueue(boss: PgBoss, task: Pick<Task, 'name' | 'expireSeconds'>): Promise<void> {
  return openQueue(boss, task.name, queueSettings(task.expireSeconds))
}

/** Creates a queue, or updates its settings. */
export async function openQueue(boss: PgBoss, name: string, settings: QueueOptions): Promise<void> {
  if (await boss.getQueue(name)) await boss.updateQueue(name, settings)
  else await boss.createQueue(name, settings)
  // pg-boss looks up an unknown queue outside a send's transaction, a deadlock on one session: look it up here.
  await boss.touch(name, NIL_UUID)
}
