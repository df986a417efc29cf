import { RestError } from './errors.ts'

/** Preferences of a request, from Prefer, Accept and Range (PostgREST manual, preferences). */
export interface Preferences {
  readonly representation: 'full' | 'headers' | 'none' | null
  readonly count: boolean
  readonly rollback: boolean
  readonly resolution: 'merge-duplicates' | 'ignore-duplicates' | null
  /** Columns that a row of the body omits get their defaults instead of null. */
  readonly missingDefault: boolean
  /** Maximum rows of a change; null for no limit. */
  readonly maxAffected: number | null
  /** Time zone of timestamps in the answer; null for UTC. */
  readonly timezone: string | null
  /** Value of Preference-Applied. */
  readonly applied: readonly string[]
}

const KNOWN = [
  /^return=(?:representation|minimal|headers-only)$/,
  /^count=(?:exact|planned|estimated)$/,
  /^resolution=(?:merge|ignore)-duplicates$/,
  /^missing=(?:default|null)$/,
  /^tx=(?:commit|rollback)$/,
  /^handling=(?:strict|lenient)$/,
  /^max-affected=\d{1,15}$/,
  /^timezone=[\x21-\x7e]{1,64}$/,
]

/** Unknown preferences are ignored unless `handling=strict`, which `max-affected` also requires. @throws PGRST122 */
export function parsePreferences(header: string | string[] | undefined): Preferences {
  const wishes = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((wish) => wish.trim())
  const known = wishes.filter((wish) => KNOWN.some((pattern) => pattern.test(wish)))
  const isStrict = known.includes('handling=strict')
  const unknown = wishes.filter((wish) => wish !== '' && !known.includes(wish))
  if (isStrict && unknown.length > 0) {
    throw new RestError(400, 'PGRST122', 'Invalid preferences given with handling=strict', {
      details: `Invalid preferences: ${unknown.join(', ').slice(0, 200)}`,
    })
  }
  const value = (name: string) => known.findLast((wish) => wish.startsWith(`${name}=`))?.slice(name.length + 1) ?? null
  const [returned, resolution, maxAffected] = [value('return'), value('resolution'), value('max-affected')]
  return {
    representation:
      returned === 'representation'
        ? 'full'
        : returned === 'headers-only'
          ? 'headers'
          : returned === 'minimal'
            ? 'none'
            : null,
    // Planned and estimated counts are exact here, because tables are not huge.
    count: value('count') !== null,
    rollback: value('tx') === 'rollback',
    resolution: resolution === 'merge-duplicates' || resolution === 'ignore-duplicates' ? resolution : null,
    missingDefault: value('missing') === 'default',
    maxAffected: isStrict && maxAffected !== null ? Number(maxAffected) : null,
    timezone: value('timezone'),
    applied: known.filter((wish) => isStrict || !wish.startsWith('max-affected=')),
  }
}

export type Format = 'json' | 'object' | 'csv' | 'geojson' | 'plan' | 'planText'

/** The form of an answer. */
export interface Accepted {
  readonly format: Format
  /** Members that are null are left out of objects. */
  readonly isStripped: boolean
  /** Options of EXPLAIN. */
  readonly options: readonly string[]
}

const FORMATS: Readonly<Record<string, Format>> = {
  '': 'json',
  '*/*': 'json',
  'application/*': 'json',
  'application/json': 'json',
  'application/vnd.pgrst.array': 'json',
  'application/vnd.pgrst.array+json': 'json',
  'application/vnd.pgrst.object': 'object',
  'application/vnd.pgrst.object+json': 'object',
  'text/csv': 'csv',
  'application/geo+json': 'geojson',
  'application/vnd.pgrst.plan+json': 'plan',
  'application/vnd.pgrst.plan': 'planText',
  'application/vnd.pgrst.plan+text': 'planText',
}
const PLAN_OPTIONS = new Set(['analyze', 'verbose', 'settings', 'buffers', 'wal'])

/**
 * The form of the answer: the first supported media type of Accept, with its parameters (`nulls=stripped`, and
 * `options=verbose|settings` of a plan). Plans reveal tables and policies, so they are supported only if the operator
 * allows them.
 *
 * @throws PGRST107 when none is
 */
export function parseAccept(header: string | undefined, plans: boolean): Accepted {
  const types = (header ?? '*/*').split(',').map((type) => type.split(';').map((part) => part.trim().toLowerCase()))
  for (const [type = '', ...parameters] of types) {
    const format = Object.hasOwn(FORMATS, type) ? (FORMATS[type] as Format) : null
    if (format === null || (format.startsWith('plan') && !plans)) continue
    const options = parameters.find((p) => p.startsWith('options='))?.slice('options='.length) ?? ''
    return {
      format,
      isStripped: type.startsWith('application/vnd.pgrst.') && parameters.includes('nulls=stripped'),
      options: options.split('|').filter((option) => PLAN_OPTIONS.has(option)),
    }
  }
  const names = types.map(([type]) => type).join(', ')
  throw new RestError(406, 'PGRST107', `None of these media types are available: ${names.slice(0, 200)}`)
}

/** `limit` and `offset` of a Range header of items, e.g. `0-9`; null without one. @throws PGRST103 */
export function parseRange(header: string | undefined): { offset: number; limit: number | null } | null {
  const found = /^(?:items=)?(\d{1,15})-(\d{0,15})$/.exec(header ?? '')
  if (!found) return null
  const offset = Number(found[1])
  const limit = found[2] === '' ? null : Number(found[2]) - offset + 1
  if (limit !== null && limit < 1) {
    throw new RestError(416, 'PGRST103', 'Requested range not satisfiable', {
      details: 'The lower boundary must be lower than or equal to the upper boundary in the Range header.',
    })
  }
  return { offset, limit }
}
