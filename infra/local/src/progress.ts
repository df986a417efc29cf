import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** Clock ticks per second of /proc on Linux. */
const TICKS = 100

/** Seconds of processor time that a process has used; null when the system does not report it. */
export async function cpuSeconds(pid: number): Promise<number | null> {
  try {
    if (process.platform === 'linux') {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
      // After the name, which may contain any characters: state is field 3, utime and stime are 14 and 15.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) / TICKS
    }
    const { stdout } = await promisify(execFile)('ps', ['-o', 'time=', '-p', String(pid)])
    return stdout
      .trim()
      .split(/[-:]/)
      .reduce((sum, part) => sum * 60 + Number(part), 0)
  } catch {
    return null
  }
}
