import { serveThread, type EmitEvent } from '@terrane/core/threads'

import type { EngineMethods, Job, ReadyThread, ThreadEvent, ThreadSetup } from './protocol.ts'

/** Sends embeddings to the engine. */
export type Post = EmitEvent<ThreadEvent>

/** Main loop of every worker thread: prepares once, reports its execution provider, then runs one job at a time. */
export function hostWorker<Prepared extends ReadyThread>(
  prepare: (setup: ThreadSetup) => Promise<Prepared>,
  perform: (job: Job, prepared: Prepared, post: Post) => Promise<void>,
): void {
  serveThread<ThreadSetup, EngineMethods, ThreadEvent>(async (setup, emit) => {
    const prepared = await prepare(setup)
    emit({ type: 'ready', choice: prepared.choice, hasFreeBatch: prepared.hasFreeBatch })
    return { run: (job) => perform(job, prepared, emit) }
  })
}
