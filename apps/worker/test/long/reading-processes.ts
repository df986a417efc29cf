import { readFile, readdir } from 'node:fs/promises'

/** Ticks of CPU time in a second: every Linux that Node runs on has this many. */
const TICKS_PER_SECOND = 100
const LOOK_MS = 100

/** Maximum of CPU time and memory of a child process. */
export interface MostUsed {
  readonly cpuSeconds: number
  readonly bytes: number
}

/** Polls the child processes of this process. Needs `/proc`. */
export class ChildWatch implements AsyncDisposable {
  #most: MostUsed = { cpuSeconds: 0, bytes: 0 }
  #children = 0
  #isOver = false
  readonly #looking = this.#look()

  /** The most of each that one of them has taken so far. */
  get most(): MostUsed {
    return this.#most
  }

  /** How many there are now. */
  get children(): number {
    return this.#children
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await this.#looking
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      const used = (await Promise.all((await pids()).map(usedBy))).filter((one) => one !== null)
      this.#children = used.length
      for (const { cpuSeconds, bytes } of used)
        this.#most = {
          cpuSeconds: Math.max(this.#most.cpuSeconds, cpuSeconds),
          bytes: Math.max(this.#most.bytes, bytes),
        }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }
}

async function pids(): Promise<string[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
}

/** CPU time and memory of a child of this process; null for any other process. */
async function usedBy(pid: string): Promise<MostUsed | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  // The second field, a name in parentheses, may hold anything; the parent is the 4th, user and system time the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (Number(fields[1]) !== process.pid) return null
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '')
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0
  return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND, bytes: Number(kilobytes) * 1024 }
}
