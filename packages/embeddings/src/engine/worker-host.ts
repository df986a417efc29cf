import { type Transferable, parentPort, workerData } from 'node:worker_threads'

import { toPlainError } from '@terrane/core'

import type { Job, ThreadMessage, ThreadSetup } from './protocol.ts'
import type { ProviderChoice } from './providers.ts'

/** Sends a message to the engine. */
export type Post = (message: ThreadMessage, transfer?: readonly Transferable[]) => void

/**
 * The frame of every worker thread: prepares once, reports `ready`, then does one job at a time and reports its end.
 */
export async function hostWorker<Prepared extends { readonly choice: ProviderChoice }>(
  prepare: (setup: ThreadSetup) => Promise<Prepared>,
  perform: (job: Job, prepared: Prepared, post: Post) => Promise<void>,
): Promise<void> {
  const port = parentPort
  if (!port) throw new Error('this module runs in a worker thread')
  const post: Post = (message, transfer) => port.postMessage(message, transfer)
  const attempt = async (action: () => Promise<ThreadMessage>): Promise<void> => {
    try {
      post(await action())
    } catch (error) {
      post({ type: 'failed', error: toPlainError(error) })
    }
  }
  await attempt(async () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine is the only one that starts us
    const prepared = await prepare(workerData as ThreadSetup)
    const done = (job: Job) => attempt(() => perform(job, prepared, post).then(() => ({ type: 'done' })))
    port.on('message', (job: Job) => void done(job))
    return { type: 'ready', choice: prepared.choice }
  })
}
