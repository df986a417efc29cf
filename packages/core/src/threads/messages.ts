import type { PlainError } from '../errors/index.ts'

/** Parameters of a thread's method. */
export type Input<Api, Name extends keyof Api> = Api[Name] extends (input: infer I) => unknown ? I : never

/** Result of a thread's method. */
export type Output<Api, Name extends keyof Api> = Api[Name] extends (input: never) => infer O ? Awaited<O> : never

/** A call of a method of a thread; numbers begin at 1. */
export interface ThreadCall {
  readonly id: number
  readonly name: PropertyKey
  readonly input: unknown
}

/** The answer to a call (to number 0 when the thread is ready), or an event. */
export type ThreadMessage<Event> =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly error: PlainError }
  | { readonly event: Event }
