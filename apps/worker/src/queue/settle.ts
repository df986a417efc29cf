import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@terrane/service'
import { toShowable } from '../errors.ts'

/** Delays between retries while the database is unavailable; their sum is about the time until a run counts as lost. */
const WAITS_MS = [250, 500, 1000, 2000, 4000, 8000]

/** Settles a job; retries for 16 s while the database is unavailable. @param write false when another worker holds the job */
export async function settle(logger: Logger, write: () => Promise<boolean>): Promise<void> {
  for (const wait of [...WAITS_MS, null]) {
    try {
      if (!(await write())) logger.warn('another run has taken the job over; this run changes nothing')
      return
    } catch (error) {
      if (wait === null || toShowable(error).code !== 'DATABASE_UNAVAILABLE') throw error
      await sleep(wait)
    }
  }
}
