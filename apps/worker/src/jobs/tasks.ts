import type { GuardedFetch, Logger } from '@terrane/service'
import type { WorkerConfig } from '../config.ts'
import type { Task } from './task.ts'

/** What tasks share. */
export interface TaskDeps {
  readonly fetch: GuardedFetch
  readonly logger: Logger
  /** Registers what is to be closed with the worker. */
  readonly onClose: (close: () => Promise<void>) => void
}

/** Every task that this worker can run. */
export async function makeTasks(_config: WorkerConfig, _deps: TaskDeps): Promise<Task[]> {
  return []
}
