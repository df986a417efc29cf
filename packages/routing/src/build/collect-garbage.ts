/**
 * Gives back what is needed no more, in a process that was started with `--expose-gc`. Left to itself the collector looks
 * at the objects of the language, which are few here: dead arrays of gigabytes hardly move it.
 */
export function collectGarbage(): void {
  globalThis.gc?.()
}
