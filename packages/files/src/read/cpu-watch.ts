import { readFile } from 'node:fs/promises'

/** Time between two looks, in milliseconds. */
const LOOK_MS = 1000
/** Ticks of CPU time in a second: every Linux that Node runs on has this many. */
const TICKS_PER_SECOND = 100

/**
 * Ends a process that uses CPU time and makes no progress. Only time that it computes counts: one that waits for its reader,
 * for the disk or for its turn is not stuck. Where the system has no `/proc`, nothing is ended.
 */
export class CpuWatch implements Disposable {
  readonly #pid: number
  readonly #onStuck: (seconds: number) => void
  readonly #timer: NodeJS.Timeout
  #allowed: number
  /** CPU time at the last progress; null when there was some since the last look. */
  #since: number | null = 0
  #isLooking = false

  /**
   * @param seconds CPU time that may pass without progress
   * @param onStuck is called once, when more has passed
   */
  constructor(pid: number, seconds: number, onStuck: (seconds: number) => void) {
    this.#pid = pid
    this.#allowed = seconds
    this.#onStuck = onStuck
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref()
  }

  /** The process has brought something. */
  progressed(): void {
    this.#since = null
  }

  /** Allows more CPU time without progress, in seconds. */
  allow(seconds: number): void {
    this.#allowed += seconds
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    const used = await cpuSecondsOf(this.#pid)
    this.#isLooking = false
    if (used === null) return
    this.#since ??= used
    if (used - this.#since <= this.#allowed) return
    clearInterval(this.#timer)
    this.#onStuck(this.#allowed)
  }
}

/** CPU time that a process has used, or null when it has ended or the system does not tell. */
async function cpuSecondsOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null)
  // The second field, a name in parentheses, may have any characters; user and system time are the 14th and 15th.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (!fields) return null
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
