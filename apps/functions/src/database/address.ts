/** Address of the project's database inside a function. The host resolves this name; no DNS resolver does. */
export const DATABASE_TARGET = 'project.internal:5432'

/** The user name for the function itself. */
export const FUNCTION_USER = 'function'

const CALL_USER = /^call-([0-9]{1,16})$/

/**
 * Value of TERRANE_DB_URL and SUPABASE_DB_URL in a function. It has no password: the socket identifies the function.
 */
export const DATABASE_URL_INSIDE = `postgresql://${FUNCTION_USER}@${DATABASE_TARGET}/postgres`

/** The call that a user name identifies; null when it identifies none. */
export function callOfUser(user: string): string | null {
  return CALL_USER.exec(user)?.[1] ?? null
}
