import { replaceNames } from '@terrane/core/sql-text'
import { badBody } from './errors.ts'

/** Types of parameters that a client can send as text. */
export const PARAMETER_TYPES = [
  'text',
  'bigint',
  'integer',
  'double precision',
  'numeric',
  'boolean',
  'date',
  'timestamptz',
  'uuid',
  'geometry',
] as const

/** A value for `:name` in a statement. */
export interface SqlParameter {
  readonly name: string
  readonly type: (typeof PARAMETER_TYPES)[number]
  /** The value as SQL writes it for the type; null for NULL. */
  readonly value: string | null
}

/** The statement with each declared `:name` replaced. Other colons stay: slices, or what the server refuses. */
function replaceParameters(
  sql: string,
  parameters: readonly SqlParameter[],
  write: (parameter: SqlParameter, index: number) => string,
): string {
  return replaceNames(sql, (name) => {
    const index = parameters.findIndex((parameter) => parameter.name === name)
    return index < 0 ? null : write(parameters[index]!, index)
  })
}

/** The statement with its parameters taken from `$1`, a JSON object, and that object. */
export function withValues(
  sql: string,
  parameters: readonly SqlParameter[],
): { readonly text: string; readonly args: string } {
  const text = replaceParameters(sql, parameters, ({ name, type }) => `($1 ->> '${name}')::${type}`)
  return { text, args: JSON.stringify(Object.fromEntries(parameters.map(({ name, value }) => [name, value]))) }
}

const NAME = /^[a-z_]\w{0,40}$/
const MOST = 20

/** @throws BAD_BODY */
export function readParameters(value: unknown): readonly SqlParameter[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > MOST) throw badBody('parameters', `a list of at most ${MOST}`)
  const found = value.map((one: Partial<SqlParameter> | null, i): SqlParameter => {
    const { name, type, value: given = null } = one ?? {}
    if (typeof name !== 'string' || !NAME.test(name)) throw badBody(`parameters[${i}].name`, 'a lower-case name')
    if (!PARAMETER_TYPES.some((known) => known === type))
      throw badBody(`parameters[${i}].type`, `one of ${PARAMETER_TYPES.join(', ')}`)
    if (given !== null && typeof given !== 'string') throw badBody(`parameters[${i}].value`, 'text or null')
    return { name, type: type!, value: given }
  })
  const names = new Set(found.map(({ name }) => name))
  if (names.size < found.length) throw badBody('parameters', 'a list of different names')
  return found
}
