import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** CPU time and memory of a process. */
export interface Usage {
  readonly cpuSeconds: number
  /** Its own resident memory: without shared and file-backed pages where the system reports them separately. */
  readonly privateMb: number
  /** State of its main thread, as in /proc/{pid}/stat: R running or runnable, S sleeping, T stopped; null when unknown. */
  readonly state: string | null
}

/** Reads the usage of a process; null when the process has ended or its usage is not known yet. */
export type Meter = (pid: number) => Usage | null

/** The meter of this platform: /proc on Linux, `ps` once a second elsewhere. */
export function createMeter(): Meter {
  return process.platform === 'linux' ? linuxMeter : psMeter()
}

/** Kernel constants of every Linux that Node runs on. */
const TICKS_PER_SECOND = 100
const PAGE_MB = 4096 / 1024 / 1024

function linuxMeter(pid: number): Usage | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field is the command in parentheses and may contain any characters; utime and stime are fields 14 and
    // 15.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [, resident, shared] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ').map(Number)
    return {
      state: fields[0] ?? null,
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
      privateMb: (resident! - shared!) * PAGE_MB,
    }
  } catch {
    return null
  }
}

function psMeter(): Meter {
  const known = new Map<number, Usage>()
  const wanted = new Set<number>()
  let next = 0
  return (pid) => {
    wanted.add(pid)
    if (performance.now() > next) {
      next = performance.now() + 1000
      execFile('ps', ['-o', 'pid=,rss=,time=', '-p', [...wanted].join(',')], (_error, text) => {
        known.clear()
        for (const line of text.split('\n')) {
          const [id, rss, time] = line.trim().split(/\s+/)
          if (time === undefined) continue
          const cpuSeconds = time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
          known.set(Number(id), { cpuSeconds, privateMb: Number(rss) / 1024, state: null })
        }
        wanted.clear()
      })
    }
    return known.get(pid) ?? null
  }
}
