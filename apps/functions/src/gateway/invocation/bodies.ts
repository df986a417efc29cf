const SWEEP_MS = 500

/** A body that is being received. */
export interface ReceivedBody {
  /** Called when the caller has not sent the body in time. */
  late(): void
}

/** Memory for the bodies of requests on a host, and the time that callers may take to send them. */
export class Bodies implements Disposable {
  readonly #mostBytes: number
  readonly #timeoutMs: number
  readonly #receiving = new Map<ReceivedBody, number>()
  readonly #sweeper: NodeJS.Timeout
  /** Bytes that are held or reserved. */
  #held = 0

  /**
   * @param mostBytes held at once, over all functions
   * @param timeoutMs longest time between two parts of a streamed body, or for the whole of a body that is held
   */
  constructor(mostBytes: number, timeoutMs: number) {
    this.#mostBytes = mostBytes
    this.#timeoutMs = timeoutMs
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS)
    this.#sweeper.unref()
  }

  /** Reserves memory for this many bytes; false when the host's limit is reached. */
  reserve(bytes: number): boolean {
    if (this.#held + bytes > this.#mostBytes) return false
    this.#held += bytes
    return true
  }

  release(bytes: number): void {
    this.#held -= bytes
  }

  /** Starts the time limit of a body. A second call restarts it for the rest of the body. */
  begin(body: ReceivedBody): void {
    this.#receiving.set(body, performance.now() + this.#timeoutMs)
  }

  end(body: ReceivedBody): void {
    this.#receiving.delete(body)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#sweeper)
  }

  #sweep(): void {
    const now = performance.now()
    for (const [body, deadline] of this.#receiving) if (now > deadline) body.late()
  }
}
