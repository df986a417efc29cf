/**
 * Collects garbage at once in a process that was started with `--expose-gc`. The collector starts by the number of
 * JavaScript objects, which is small here, so unused arrays of gigabytes would stay for long.
 */
export function collectGarbage(): void {
  globalThis.gc?.()
}
