import { Worker, type ResourceLimits, type Transferable } from 'node:worker_threads'
import { reviveError } from '../errors/index.ts'
import type { Input, Output, ThreadCall, ThreadMessage } from './messages.ts'

export interface ThreadOptions<Event> {
  /** Start parameters of the thread; `serveThread` passes them on. */
  readonly setup?: unknown
  readonly resourceLimits?: ResourceLimits
  /** Ends the thread when it aborts; calls then fail with its reason. */
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: (event: Event) => void
  /** Creates the error for calls of a thread that has ended, by itself or because it was closed. */
  readonly toLostError: (why: string) => Error
  /** Creates the error for a failure outside of the catalogues. */
  readonly toError: (why: string) => Error
}

/**
 * A worker thread whose program calls `serveThread` with the methods of `Api`; each takes one cloneable value.
 * Catalogue errors arrive as they were thrown. Disposal ends the thread at once.
 *
 * @example
 * ```ts no-run
 * // `program` is the URL of a module that calls serveThread.
 * await using thread = new Thread<{ count(text: string): number }>(program, {
 *   toLostError: (why) => new Error(`the counting thread was lost: ${why}`),
 *   toError: (why) => new Error(`counting failed: ${why}`),
 * })
 * const words = await thread.call('count', 'how many words are these')
 * ```
 */
export class Thread<Api, Event = never> implements AsyncDisposable {
  /** Settles when the thread is prepared. @throws the error of the preparation, as does every later call */
  readonly ready: Promise<unknown>
  readonly #worker: Worker
  readonly #options: ThreadOptions<Event>
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #onAbort = (): void => void this.end(this.#options.signal?.reason)
  #calls = 0
  #failure: { readonly error: unknown } | null = null

  /** @throws the reason of the signal */
  constructor(program: URL, options: ThreadOptions<Event>) {
    this.#options = options
    const { setup, resourceLimits, signal } = options
    signal?.throwIfAborted()
    signal?.addEventListener('abort', this.#onAbort)
    this.#worker = new Worker(program, { workerData: setup, ...(resourceLimits && { resourceLimits }) })
    this.ready = this.#wait(0)
    this.ready.catch(() => undefined)
    this.#worker.on('message', (message: ThreadMessage<Event>) => this.#receive(message))
    this.#worker.on('error', (error) => this.#lose(error instanceof Error ? error.message : String(error)))
    this.#worker.on('exit', (code) => this.#lose(`it exited with code ${code}`))
  }

  /** True when the thread no longer answers calls. */
  get hasEnded(): boolean {
    return this.#failure !== null
  }

  /**
   * Calls a method of the thread.
   *
   * @param transfer buffers whose memory is transferred
   * @throws what the method throws, the error of a lost thread, the reason of the signal
   */
  async call<Name extends keyof Api>(
    name: Name,
    input: Input<Api, Name>,
    transfer: readonly Transferable[] = [],
  ): Promise<Output<Api, Name>> {
    if (this.#failure) throw this.#failure.error
    const id = ++this.#calls
    this.#worker.postMessage({ id, name, input } satisfies ThreadCall, transfer)
    return this.#wait(id) as Promise<Output<Api, Name>>
  }

  /** Makes the thread keep its process alive, which is the default. */
  ref(): void {
    this.#worker.ref()
  }

  /** Lets the process end while the thread runs. */
  unref(): void {
    this.#worker.unref()
  }

  /** Ends the thread; calls that are not answered fail with the reason. */
  async end(reason: unknown): Promise<void> {
    this.#fail(reason)
    await this.#worker.terminate()
  }

  /** Ends the thread; calls that are not answered fail. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#lose('it was closed')
    await this.#worker.terminate()
  }

  #wait(id: number): Promise<unknown> {
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    return waiting.promise
  }

  #receive(message: ThreadMessage<Event>): void {
    if (this.#failure) return
    if ('event' in message) return this.#tell(message.event)
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if ('output' in message) return waiting?.resolve(message.output)
    const error = reviveError(message.error, this.#options.toError)
    if (message.id > 0) return waiting?.reject(error)
    void this.#discard(error, waiting)
  }

  /** Ends a thread that could not be prepared; its memory is free when `ready` fails. */
  async #discard(error: unknown, ready: PromiseWithResolvers<unknown> | undefined): Promise<void> {
    this.#failure ??= { error }
    await this.#worker.terminate()
    ready?.reject(error)
    this.#fail(error)
  }

  /** An error of the listener ends the thread. */
  #tell(event: Event): void {
    try {
      this.#options.onEvent?.(event)
    } catch (error) {
      void this.end(error)
    }
  }

  #lose(why: string): void {
    if (!this.#failure) this.#fail(this.#options.toLostError(why))
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    for (const { reject } of this.#waiting.values()) reject(this.#failure.error)
    this.#waiting.clear()
  }
}
