import { mkdtemp, chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { probeRuntime, type ProbedRuntime, type RuntimeWish } from '../../src/runtime/probe.ts'

/** As the app does: instances run as users of their own when the host is root. */
const users = process.getuid?.() === 0 ? { first: 230_000, count: 200 } : null

/** A runtime of this machine, or why there is none; the shim's folder stays for the other test files. */
export async function tryRuntime(
  runtime: RuntimeWish['runtime'],
  profile: RuntimeWish['profile'],
): Promise<{ readonly probed: ProbedRuntime } | { readonly missing: string }> {
  const stateDir = await mkdtemp(join(tmpdir(), 'terrane-shim-'))
  await chmod(stateDir, 0o755)
  // oxlint-disable-next-line node/no-process-env -- The programs that a profile needs are looked up on PATH.
  const path = process.env['PATH'] ?? ''
  try {
    return { probed: await probeRuntime({ runtime, profile, stateDir, users, insistOnUsers: false, path }) }
  } catch (error) {
    return { missing: (error as Error).message }
  }
}
