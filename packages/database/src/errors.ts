import { TerraneError, defineError } from '@terrane/core'

export const databaseUnavailable = defineError(
  'DATABASE_UNAVAILABLE',
  'unavailable',
  () => 'The database cannot be reached',
  () => ({ hint: 'Try again in a few seconds.' }),
)

const databaseWithoutTls = defineError(
  'DATABASE_WITHOUT_TLS',
  'invalid',
  () => 'The database server does not support TLS, which sslmode in its URL requires',
  () => ({ hint: 'Enable TLS on the server, or use sslmode=prefer or sslmode=disable if the network is trusted.' }),
)

export const answerTooLarge = defineError(
  'ANSWER_TOO_LARGE',
  'too_large',
  (f: { limit: number }) => `The answer of the database has more than ${f.limit} bytes`,
  () => ({ hint: 'Ask for fewer rows or columns at once, or for only a part of large values.' }),
)

export const answerUnreadable = defineError(
  'DATABASE_ANSWER_UNREADABLE',
  'upstream',
  (f: { reason: string }) => `The answer of the database does not follow PostgreSQL's protocol: ${f.reason}`,
  () => ({ hint: 'Check that the address of the database leads to a PostgreSQL server.' }),
)

export const tableExists = defineError(
  'TABLE_EXISTS',
  'conflict',
  (f: { schema: string; table: string; field?: 'tableName' }) => `Table ${f.schema}.${f.table} exists already`,
  (f) => ({
    hint: 'Choose another name, or drop that table first. Imports and tables of classes replace a table with mode replace (terrane import --replace).',
    ...(f.field && { errors: [{ path: `/${f.field}`, message: 'is the name of a table that exists' }] }),
  }),
)

export const tableChanged = defineError(
  'TABLE_CHANGED',
  'unavailable',
  (f: { table: string }) => `Rows of ${f.table} were updated or deleted while it was read in slices`,
  () => ({
    hint: 'Try again. A PostgreSQL server, unlike the embedded database, can read a table while it changes.',
  }),
)

export const runSuperseded = defineError(
  'RUN_SUPERSEDED',
  'conflict',
  () => 'A later run of this job has begun, or the job has ended: this run can no longer change anything',
)

export const schemaBehind = defineError(
  'DATABASE_SCHEMA',
  'unavailable',
  (f: { reason: string }) => `The database schema does not fit this version: ${f.reason}`,
)

export const schemaTooNew = defineError(
  'SCHEMA_TOO_NEW',
  'unavailable',
  (f: { unknown: readonly string[] }) =>
    `The database schema is newer than this program, which does not know ${f.unknown.join(', ')}`,
  () => ({ hint: 'Start the version that made the schema or a later one, or restore a backup of this version.' }),
)

export const schemaTooOld = defineError(
  'SCHEMA_TOO_OLD',
  'unavailable',
  (f: { missing: readonly string[] }) =>
    `The database schema is too old for this program to upgrade: it lacks ${f.missing.join(', ')}`,
  () => ({ hint: 'Start commit 9c1944f8 on this database once, which brings it up to date, then this version.' }),
)

export const bulkLoadFailed = defineError(
  'BULK_LOAD_FAILED',
  'internal',
  (f: { table: string; rows: number }) => `Loading ${f.table} failed after ${f.rows} rows were sent`,
)

export const notEmpty = defineError(
  'DATABASE_NOT_EMPTY',
  'conflict',
  (f: { found: readonly string[] }) => `The database is not empty: it has ${f.found.join(', ')}`,
  () => ({ hint: 'Name an empty database, e.g. one made by createdb. Existing data are not overwritten.' }),
)

export const transferDiffers = defineError(
  'TRANSFER_DIFFERS',
  'internal',
  (f: { what: string }) => `The copy of the database differs from its source: ${f.what}`,
  () => ({ hint: 'Nothing was changed in the target. Check that its server has the extensions of the source.' }),
)

/** Node and PostgreSQL codes that mean "not reachable now". Classes 08 and 57P, PostgreSQL appendix A. */
const CONNECTION_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '53300',
  '57P01',
  '57P02',
  '57P03',
])

/** Wraps the loss of the connection as DATABASE_UNAVAILABLE; returns every other error unchanged. */
export function mapConnectionError(error: unknown): unknown {
  if (error instanceof TerraneError || !(error instanceof Error)) return error
  const { code } = error as { code?: unknown }
  // The last of these messages comes from the client itself after its connection was lost.
  const lost =
    typeof code === 'string'
      ? CONNECTION_CODES.has(code)
      : /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|is not queryable/.test(
          error.message,
        )
  if (lost) return databaseUnavailable(undefined, { cause: error })
  if (error.message.includes('server does not support SSL')) return databaseWithoutTls(undefined, { cause: error })
  if (error instanceof AggregateError && error.errors.some((e) => mapConnectionError(e) !== e)) {
    return databaseUnavailable(undefined, { cause: error })
  }
  return error
}

export const tableNotFound = defineError(
  'TABLE_NOT_FOUND',
  'not_found',
  (f: { schema: string; table: string }) => `There is no table ${f.schema}.${f.table}`,
)
