import type { Exit } from '../../pool/exit.ts'
import type { Instance } from '../../pool/instance.ts'

/** Time that an answer waits for the exit reason of its instance, which explains why the connection broke. */
const EXIT_WAIT_MS = 1000

/** Exit reason of an instance; null when none arrives in time. */
export async function waitForExit(instance: Instance): Promise<Exit | null> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), EXIT_WAIT_MS)
  })
  const exit = await Promise.race([instance.exited, silence])
  clearTimeout(timer)
  return exit
}
