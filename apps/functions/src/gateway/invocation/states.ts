/**
 * States of an invocation and their possible successors. An event that would lead to any other state has come too late
 * and changes nothing.
 */
const NEXT = {
  /** The caller is authenticated and its rank is checked. */
  asking: ['receiving', 'queued', 'over'],
  /** The body is read. */
  receiving: ['queued', 'over'],
  /** The request waits for an instance. */
  queued: ['called', 'over'],
  /**
   * An instance has the request and has not answered. If that instance could not be reached at all, another one gets
   * the request, once.
   */
  called: ['answering', 'queued', 'over'],
  /** The head of the answer is sent: the host can no longer answer in the function's place. */
  answering: ['over'],
  over: [],
} as const satisfies Record<string, readonly string[]>

export type InvocationState = keyof typeof NEXT

/** Whether the table allows a change from one state to the other. */
export function leads(from: InvocationState, to: InvocationState): boolean {
  return (NEXT[from] as readonly InvocationState[]).includes(to)
}
