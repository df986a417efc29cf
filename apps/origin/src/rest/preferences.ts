import { RestError } from './errors.ts'

/** What a request wants beside its rows, from Prefer, Accept and Range (PostgREST manual, preferences). */
export interface Preferences {
  readonly representation: 'full' | 'headers' | 'none' | null
  readonly count: boolean
  readonly rollback: boolean
  readonly resolution: 'merge-duplicates' | 'ignore-duplicates' | null
  readonly missingDefault: boolean
}

export type Format = 'json' | 'object' | 'csv' | 'geojson' | 'plan' | 'planText'

export function parsePreferences(header: string | string[] | undefined): Preferences {
  const wishes = new Map(
    (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((wish) => {
      const [name = '', value = ''] = wish.trim().split('=')
      return [name, value] as const
    }),
  )
  const wanted = wishes.get('return')
  const resolution = wishes.get('resolution')
  return {
    representation:
      wanted === 'representation'
        ? 'full'
        : wanted === 'headers-only'
          ? 'headers'
          : wanted === 'minimal'
            ? 'none'
            : null,
    // A planned or estimated count is answered exactly: it is never wrong, and tables here are not huge.
    count: wishes.has('count'),
    rollback: wishes.get('tx') === 'rollback',
    resolution: resolution === 'merge-duplicates' || resolution === 'ignore-duplicates' ? resolution : null,
    missingDefault: wishes.get('missing') === 'default',
  }
}

/**
 * The format of the answer, by the first media type of Accept that is known here. Plans tell of tables and policies, so
 * they are known only where the operator says so.
 *
 * @throws PGRST107 when none is
 */
export function parseAccept(header: string | undefined, plans: boolean): Format {
  const types = (header ?? '*/*').split(',').map((type) => type.split(';')[0]?.trim().toLowerCase() ?? '')
  for (const type of types) {
    switch (type) {
      case '':
      case '*/*':
      case 'application/*':
      case 'application/json':
      case 'application/vnd.pgrst.array':
      case 'application/vnd.pgrst.array+json':
        return 'json'
      case 'application/vnd.pgrst.object':
      case 'application/vnd.pgrst.object+json':
        return 'object'
      case 'text/csv':
        return 'csv'
      case 'application/geo+json':
        return 'geojson'
      case 'application/vnd.pgrst.plan+json':
        if (plans) return 'plan'
        break
      case 'application/vnd.pgrst.plan':
      case 'application/vnd.pgrst.plan+text':
        if (plans) return 'planText'
        break
      default:
    }
  }
  throw new RestError(406, 'PGRST107', `None of these media types are available: ${types.join(', ').slice(0, 200)}`)
}

/**
 * `limit` and `offset` of a Range header of unit items, e.g. `0-9`; null when there is none.
 *
 * @throws PGRST103 when it ends before it begins
 */
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
