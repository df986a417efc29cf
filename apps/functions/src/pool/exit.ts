/**
 * Why an instance ended: the first three are limits, `crashed` is a fault of the function, and the others are decisions
 * of the host.
 */
export type ExitReason =
  | 'blocked'
  | 'memory'
  | 'idle_cpu'
  | 'crashed'
  | 'boot_timeout'
  | 'idle'
  | 'replaced'
  | 'stopped'

/** The end of an instance. */
export interface Exit {
  readonly reason: ExitReason
  readonly code: number | null
  readonly signal: string | null
  /** Last part of its stderr output, for the operator. */
  readonly stderr: string
}

/** Why an instance did not become ready. */
export class BootFailure extends Error {
  override readonly name = 'BootFailure'
  /** Stack or stderr of the function, for its author. */
  readonly detail: string

  constructor(message: string, detail: string) {
    super(message)
    this.detail = detail
  }
}

/**
 * Last output of a runtime that reached the data limit: in V8's heap, in its own memory, or when it started a thread.
 */
const OUT_OF_MEMORY =
  /JavaScript heap out of memory|Fatal JavaScript (?:invalid size|out of memory)|unable to create worker threads|memory allocation of [0-9]{1,20} bytes failed/

/**
 * Exit reason: the host's, or else `crashed`; `memory` instead of `crashed` when the output reports exhausted memory.
 */
export function exitReasonOf(given: ExitReason | null, stderr: string): ExitReason {
  const reason = given ?? 'crashed'
  return reason === 'crashed' && OUT_OF_MEMORY.test(stderr) ? 'memory' : reason
}
