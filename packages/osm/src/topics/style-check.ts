import { osmStyleInvalid } from '../errors.ts'
import { STYLE_LIMITS } from './style-limits.ts'

/** Throws OSM_STYLE_INVALID with the place of an error and a remedy. */
export function refuse(path: string, problem: string, remedy: string): never {
  throw osmStyleInvalid({ path, problem, remedy })
}

/** An object whose members are among these, or any when null. */
export function objectAt(
  value: unknown,
  path: string,
  members: readonly string[] | null,
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refuse(
      path,
      'must be an object',
      members ? `Give an object with some of ${members.join(', ')}.` : 'Give an object.',
    )
  }
  for (const name of Object.keys(value)) {
    if (members && !members.includes(name))
      refuse(below(path, name), 'is not known', `Use some of ${members.join(', ')}.`)
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object
  return value as Readonly<Record<string, unknown>>
}

/** A list with 1 to `most` entries. */
export function listAt(value: unknown, path: string, most: number): readonly unknown[] {
  if (!Array.isArray(value)) refuse(path, 'must be a list', `Give a list of 1 to ${most} entries.`)
  if (value.length === 0) refuse(path, 'must not be empty', `Give 1 to ${most} entries, or leave it out.`)
  if (value.length > most) refuse(path, `has ${value.length} entries`, `Give at most ${most}.`)
  return value
}

export function textAt(value: unknown, path: string): string {
  const most = STYLE_LIMITS.text
  if (typeof value === 'string' && value !== '' && value.length <= most && !value.includes('\0')) return value
  return refuse(path, 'must be a text', `Give 1 to ${most} characters.`)
}

/** One text or several. */
export function textsAt(value: unknown, path: string): void {
  if (!Array.isArray(value)) textAt(value, path)
  else for (const [i, entry] of listAt(value, path, STYLE_LIMITS.list).entries()) textAt(entry, below(path, i))
}

export function choiceAt<Choice extends string>(value: unknown, path: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === value)
  return found ?? refuse(path, `must not be ${shown(value)}`, `Use one of ${choices.join(', ')}.`)
}

/** Names of tables and columns: lower case, so that SQL needs no quotes. */
export function nameAt(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[a-z_][a-z0-9_]{0,62}$/.test(value)) return value
  const remedy = 'Give up to 63 lower-case letters, digits and underscores that begin with no digit.'
  return refuse(path, `must not be ${shown(value)}`, remedy)
}

/** A number of metres or square metres. */
export function sizeAt(value: unknown, path: string): void {
  if (value === undefined || (typeof value === 'number' && value > 0 && value <= 1e12)) return
  refuse(path, `must not be ${shown(value)}`, 'Give a positive number, or leave it out.')
}

export function below(path: string, member: string | number): string {
  return `${path}/${String(member).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function shown(value: unknown): string {
  return value === undefined ? 'left out' : (JSON.stringify(value) ?? typeof value).slice(0, 60)
}
