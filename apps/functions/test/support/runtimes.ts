import { fileURLToPath } from 'node:url'
import { probeRuntime, type ProbedRuntime, type RuntimeWish } from '../../src/runtime/probe.ts'

/** As the app does: instances run as users of their own when the host is root. */
const users = process.getuid?.() === 0 ? { first: 230_000, count: 200 } : null

const NAMES: Readonly<Record<string, string>> = {
  'deno standard': 'Deno, standard profile',
  'deno hardened': 'Deno, hardened profile',
  'node standard': 'Node, trusted code only',
}

/** Folder of programs that hosts of the tests share. */
export const STATE_DIR = fileURLToPath(new URL('../../../../.cache/functions/', import.meta.url))

/** A runtime of this machine, or null and a title with the reason why there is none. */
export async function tryRuntime(
  runtime: RuntimeWish['runtime'],
  profile: RuntimeWish['profile'],
): Promise<{ readonly probed: ProbedRuntime | null; readonly title: string }> {
  // oxlint-disable-next-line node/no-process-env -- The programs that a profile needs are looked up on PATH.
  const path = process.env['PATH'] ?? ''
  try {
    const probed = await probeRuntime({ runtime, profile, stateDir: STATE_DIR, users, path })
    return { probed, title: NAMES[`${runtime} ${profile}`] ?? runtime }
  } catch (error) {
    return { probed: null, title: `${NAMES[`${runtime} ${profile}`] ?? runtime}: NOT RUN, ${(error as Error).message}` }
  }
}
