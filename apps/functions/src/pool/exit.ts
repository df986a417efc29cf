/** Why an instance ended. The first three are limits, `crashed` is its own doing, the others are the host's will. */
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

/** Last output of a runtime that met the data limit: in V8's heap, in its own, or when it wanted one more thread. */
const OUT_OF_MEMORY =
  /JavaScript heap out of memory|Fatal JavaScript (?:invalid size|out of memory)|unable to create worker threads|memory allocation of [0-9]{1,20} bytes failed/

/** The reason of an end: that of the host, or what the last output says. */
export function exitReasonOf(given: ExitReason | null, stderr: string): ExitReason {
  const reason = given ?? 'crashed'
  return reason === 'crashed' && OUT_OF_MEMORY.test(stderr) ? 'memory' : reason
}
