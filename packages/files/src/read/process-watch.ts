import { readFile } from 'node:fs/promises'

/** Time between two looks, in milliseconds. */
const LOOK_MS = 1000
/** Ticks of CPU time in a second: every Linux that Node runs on has this many. */
const TICKS_PER_SECOND = 100
/** Least size of a page. */
const PAGE_BYTES = 4096

/** Allowance of a process. */
export interface Allowance {
  /** CPU time without progress. */
  readonly seconds: number
  /** Memory that it holds; unbounded when absent. */
  readonly bytes?: number
}

/** The resource that a process has used too much of. */
export type Excess = 'seconds' | 'bytes'

/**
 * Calls back when a process uses CPU time without progress, or holds too much memory. Only CPU time counts: a process
 * that waits for its reader, the disk or its turn is not stuck. Without `/proc` it never calls back.
 */
export class ProcessWatch implements Disposable {
  readonly #pid: number
  readonly #onExcess: (excess: Excess, seconds: number) => void
  readonly #timer: NodeJS.Timeout
  #seconds: number
  #bytes: number
  /** CPU time at the last progress; null when there was some since the last look. */
  #since: number | null = 0
  #isLooking = false

  /** @param onExcess is called once, when more than `allowed` was used, with the CPU time that was allowed without progress */
  constructor(
    pid: number,
    { seconds, bytes = Infinity }: Allowance,
    onExcess: (excess: Excess, seconds: number) => void,
  ) {
    this.#pid = pid
    this.#seconds = seconds
    this.#bytes = bytes
    this.#onExcess = onExcess
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref()
  }

  /** Records that the process has made progress. */
  progressed(): void {
    this.#since = null
  }

  /** Allows more than before. */
  allow({ seconds, bytes = 0 }: Allowance): void {
    this.#seconds += seconds
    this.#bytes += bytes
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    const used = await usedBy(this.#pid)
    this.#isLooking = false
    if (used === null) return
    this.#since ??= used.seconds
    const isStuck = used.seconds - this.#since > this.#seconds
    if (!isStuck && used.bytes <= this.#bytes) return
    clearInterval(this.#timer)
    this.#onExcess(isStuck ? 'seconds' : 'bytes', Math.round(this.#seconds))
  }
}

/**
 * CPU time that a process has used and memory that it holds, or null when it has ended or the system does not report
 * them.
 */
async function usedBy(pid: number): Promise<Required<Allowance> | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null)
  // The second field, a name in parentheses, may contain any characters; user and system time are the 14th and 15th,
  // pages in memory the 24th.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (!fields) return null
  const seconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  return { seconds, bytes: Number(fields[21]) * PAGE_BYTES }
}
