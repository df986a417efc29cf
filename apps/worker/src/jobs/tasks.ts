import type { GuardedFetch, Logger } from '@terrane/service'
import type { WorkerConfig } from '../config.ts'
import { archiveToPmtiles } from './archive-to-pmtiles.ts'
import type { Task } from './task.ts'

/** What tasks share. */
export interface TaskDeps {
  readonly fetch: GuardedFetch
  readonly logger: Logger
  /** Registers what is to be closed with the worker. */
  readonly onClose: (close: () => Promise<void>) => void
}

/** Every task that this worker can run. */
export async function makeTasks(config: WorkerConfig, _deps: TaskDeps): Promise<Task[]> {
  return [archiveToPmtiles({ memoryBytes: config.TERRANE_TILER_MEMORY_MB * 2 ** 20 })]
}
