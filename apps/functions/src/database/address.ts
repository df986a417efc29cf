/** Where functions find their project's database; the host knows the name, no resolver does. */
export const DATABASE_TARGET = 'project.internal:5432'

/** The user that stands for the function itself. */
export const FUNCTION_USER = 'function'

const CALL_USER = /^call-([0-9]{1,16})$/

/** What a function finds as TERRANE_DB_URL and SUPABASE_DB_URL. There is no password: the socket says whose it is. */
export const DATABASE_URL_INSIDE = `postgresql://${FUNCTION_USER}@${DATABASE_TARGET}/postgres`

/** The call that a user name stands for; null when it stands for none. */
export function callOfUser(user: string): string | null {
  return CALL_USER.exec(user)?.[1] ?? null
}
