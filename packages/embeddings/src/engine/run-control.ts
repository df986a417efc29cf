const CANCELLED = 0
const CLAIMED = 1
const DELIVERED = 2
const PUBLISHED = 3
const RELEASED = 4
const CELLS = 5

/** Interval in milliseconds at which a wait checks for changes without being woken. */
const WAKE_MS = 250

/**
 * Shared state of the threads of one run: the assignment of portions, the progress of the consumer, the fill level of
 * the ring between a decoding and an inferring thread, and the stop flag. The `await…` methods block the calling
 * thread, so they are for worker threads; they return false when the run was cancelled.
 */
export class RunControl {
  readonly #cells: Int32Array

  constructor(buffer: SharedArrayBuffer) {
    this.#cells = new Int32Array(buffer)
  }

  static allocate(): SharedArrayBuffer {
    return new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)
  }

  get cancelled(): boolean {
    return Atomics.load(this.#cells, CANCELLED) === 1
  }

  /** Wakes all threads that wait, and lets each stop before its next batch. */
  cancel(): void {
    Atomics.store(this.#cells, CANCELLED, 1)
    for (const cell of [DELIVERED, PUBLISHED, RELEASED]) Atomics.notify(this.#cells, cell)
  }

  /** Claims the next portion and returns its number. */
  claim(): number {
    return Atomics.add(this.#cells, CLAIMED, 1)
  }

  /** The consumer has taken `count` tiles. */
  deliver(count: number): void {
    this.#advance(DELIVERED, count)
  }

  awaitDelivered(count: number): boolean {
    return this.#await(DELIVERED, count)
  }

  /** The decoding thread has filled `count` groups of the ring. */
  publish(count: number): void {
    this.#advance(PUBLISHED, count)
  }

  awaitPublished(count: number): boolean {
    return this.#await(PUBLISHED, count)
  }

  /** The inferring thread has emptied `count` groups of the ring. */
  release(count: number): void {
    this.#advance(RELEASED, count)
  }

  awaitReleased(count: number): boolean {
    return this.#await(RELEASED, count)
  }

  #advance(cell: number, count: number): void {
    Atomics.store(this.#cells, cell, count)
    Atomics.notify(this.#cells, cell)
  }

  /** Blocks until the cell has reached `count`. */
  #await(cell: number, count: number): boolean {
    for (;;) {
      if (this.cancelled) return false
      const value = Atomics.load(this.#cells, cell)
      if (value >= count) return true
      Atomics.wait(this.#cells, cell, value, WAKE_MS)
    }
  }
}
