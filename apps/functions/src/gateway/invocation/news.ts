import type { Exit, Instance } from '../../pool/instance.ts'

/** How long an answer waits for the news of its instance's end, which says why the connection broke. */
const EXIT_NEWS_MS = 1000

/** How an instance ended; null when nothing is heard of that. */
export async function newsOf(instance: Instance): Promise<Exit | null> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), EXIT_NEWS_MS)
  })
  const exit = await Promise.race([instance.exited, silence])
  clearTimeout(timer)
  return exit
}
