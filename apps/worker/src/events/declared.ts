import type { Sealer } from '@terrane/service'
import type { Target } from './caller.ts'

/** Table hooks and webhooks of one project at most. */
export const MOST_HOOKS = 50
export const MOST_WEBHOOKS = 20

/** Path of functions, in records of hooks. */
export const FUNCTIONS = '/functions/v1/'

/** The project and the function that declare a hook, and the entry of function.json; null: made by a request. */
export interface Declared {
  readonly declared_by: string | null
  readonly function_name: string | null
  readonly entry: string | null
}

/** The {@link Declared} of a hook that a request made. */
export const BY_REQUEST: Declared = { declared_by: null, function_name: null, entry: null }

/** The target of a hook, with the current name of its function. @throws where it cannot be opened */
export function openTarget(
  sealer: Sealer,
  { id, sealed, shown_url: shownUrl }: { readonly id: string; readonly sealed: Buffer; readonly shown_url: string },
): Target {
  const target = sealer.open(sealed, id) as Target
  if (target.function === undefined) return target
  return { function: shownUrl.slice(FUNCTIONS.length), secret: target.secret }
}
