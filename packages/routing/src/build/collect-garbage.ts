/**
 * Runs the garbage collector in a process that was started with `--expose-gc`. It normally runs by the number of
 * JavaScript objects, which is small here, so unused arrays of gigabytes would stay for long.
 */
export function collectGarbage(): void {
  globalThis.gc?.()
}
