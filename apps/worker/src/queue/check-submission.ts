import { storageUnavailable } from '@terrane/storage'
import type { SubmitContext } from '../jobs/task.ts'
import type { OpenProject } from '../projects/project-directory.ts'
import type { Submission } from './submit.ts'

/** Longest wait for the storage in a task's checks. */
const STORAGE_MS = 4000

/** Checks a submission before a job is queued. Throws what the task's checks throw. */
export async function checkSubmission(
  { task, scope, input }: Submission,
  project: Pick<OpenProject, 'database' | 'store'>,
  checkUrl: SubmitContext['checkUrl'],
): Promise<void> {
  using patience = patient()
  await task.checkSubmit(input, {
    project: {
      ref: scope.projectRef,
      database: project.database,
      store: project.store.withSignal(patience.signal),
    },
    checkUrl,
  })
}

/** A signal that aborts after {@link STORAGE_MS}, when the storage has not answered. */
function patient(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const late = () => controller.abort(storageUnavailable({ operation: 'check of a request' }))
  const timer = setTimeout(late, STORAGE_MS)
  return { signal: controller.signal, [Symbol.dispose]: () => clearTimeout(timer) }
}
