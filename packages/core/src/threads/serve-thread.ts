import { parentPort, workerData, type Transferable } from 'node:worker_threads'
import { toPlainError } from '../errors/index.ts'
import type { Input, Output, ThreadCall, ThreadMessage } from './messages.ts'

/** Sends an event to the starting thread; the buffers in `transfer` are transferred. */
export type EmitEvent<Event> = (event: Event, transfer?: readonly Transferable[]) => void

/** Methods of a thread. Buffers added to `transfer` are transferred with the output instead of copied. */
export type ThreadMethods<Api> = {
  readonly [Name in keyof Api]: (
    input: Input<Api, Name>,
    transfer: Transferable[],
  ) => Output<Api, Name> | Promise<Output<Api, Name>>
}

/**
 * The program of a worker thread that a `Thread` started: prepares once, then answers calls concurrently.
 *
 * @param prepare receives the setup of the `Thread`
 * @example
 * ```ts no-run
 * serveThread<null, { count(text: string): number }>(() => ({ count: (text) => text.split(' ').length }))
 * ```
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller defines the type of the setup
export function serveThread<Setup, Api, Event = never>(
  prepare: (setup: Setup, emit: EmitEvent<Event>) => ThreadMethods<Api> | Promise<ThreadMethods<Api>>,
): void {
  const port = parentPort
  if (!port) throw new Error('this module runs in a worker thread')
  const post = (message: ThreadMessage<Event>, transfer: readonly Transferable[] = []): void =>
    port.postMessage(message, transfer)
  const answer = async (id: number, work: (transfer: Transferable[]) => Promise<unknown>): Promise<void> => {
    const transfer: Transferable[] = []
    try {
      post({ id, output: await work(transfer) }, transfer)
    } catch (error) {
      post({ id, error: toPlainError(error) })
    }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only a `Thread` starts the program, with its setup
  const methods = Promise.resolve(workerData as Setup).then((setup) =>
    prepare(setup, (event, transfer) => post({ event }, transfer)),
  )
  void answer(0, async () => void (await methods))
  port.on('message', ({ id, name, input }: ThreadCall) => {
    void answer(id, async (transfer) => {
      const method = (await methods)[name as keyof Api]
      return method(input as Input<Api, keyof Api>, transfer)
    })
  })
}
