import { once } from 'node:events'
import type { Database } from '@terrane/database'
import type { ArtifactStore } from '@terrane/storage'
import type { JobContext, Task } from '../src/jobs/task.ts'

/** A run's steps: its progress reports and its calls of the database and the network, the pieces it uploads, in their order. */
export interface StepWatch {
  /** How many steps the last run took so far. */
  count: number
  /** Step at which the job is cancelled; 0 for never. */
  cancelAt: number
}

/**
 * Wraps a task so that it is cancelled at a given step of its run, however fast the machine is: from that step on its
 * calls to the outside wait until the cancellation has come.
 *
 * @param cancel asks for the cancellation of a job, as a client would
 */
export function cancelAtStep(task: Task, watch: StepWatch, cancel: (jobId: string) => Promise<void>): Task {
  const run: Task['run'] = (input, context) => {
    const { signal, project } = context
    let held: Promise<unknown> | null = null
    watch.count = 0
    const step = (): Promise<unknown> | null => {
      watch.count++
      if (watch.count === watch.cancelAt) {
        held = Promise.all([signal.aborted ? null : once(signal, 'abort'), cancel(context.run.jobId)])
      }
      return held
    }
    const stepped: JobContext = {
      ...context,
      fetch: holding(context.fetch, step),
      project: {
        ...project,
        database: holding<Database>(project.database, step, ['query', 'session', 'transaction']),
        store: holdingUploads(project.store, step),
      },
      progress(progress) {
        void step()
        context.progress(progress)
      },
    }
    return task.run(input, stepped)
  }
  return { ...task, run }
}

/** A storage that waits for a step before each piece of an upload and before its end. */
function holdingUploads(store: ArtifactStore, step: () => Promise<unknown> | null): ArtifactStore {
  const stepped = async function* (body: AsyncIterable<Uint8Array>) {
    for await (const piece of body) {
      await step()
      yield piece
    }
    await step()
  }
  return new Proxy(store, {
    get(object, name) {
      if (name === 'put') {
        return (...[bucket, key, body, options]: Parameters<ArtifactStore['put']>) =>
          object.put(bucket, key, stepped(body), options)
      }
      const value: unknown = Reflect.get(object, name, object)
      return typeof value === 'function' ? (value.bind(object) as unknown) : value
    },
  })
}

/** An object whose named methods wait for their step, or a function that does. */
function holding<T extends object>(target: T, step: () => Promise<unknown> | null, names: readonly string[] = []): T {
  type Call = (...args: unknown[]) => unknown
  const wrap = (call: Call, self: unknown): Call => {
    return async (...args) => {
      await step()
      return call.apply(self, args)
    }
  }
  return new Proxy(target, {
    apply: (call, self, args) => wrap(call as Call, self)(...(args as unknown[])),
    get(object, name) {
      const value: unknown = Reflect.get(object, name, object)
      if (typeof value !== 'function') return value
      return names.includes(String(name)) ? wrap(value as Call, object) : (value.bind(object) as unknown)
    },
  })
}
