import { MODES } from '../cost/options.ts'

/** OSRM's names of profiles, and those that are usual beside them. */
const PROFILES: Readonly<Record<string, string>> = {
  driving: 'auto',
  car: 'auto',
  cycling: 'bicycle',
  bike: 'bicycle',
  walking: 'pedestrian',
  foot: 'pedestrian',
}

/** Members of a table request that change nothing here. */
const UNHEEDED = [
  'radiuses',
  'bearings',
  'hints',
  'approaches',
  'exclude',
  'fallback_speed',
  'fallback_coordinate',
  'scale_factor',
]

/**
 * A request of OSRM for a table (`/table/v1/{profile}/{lon},{lat};…`) as the text of one for a matrix. What is wrong with it
 * is found when that is read.
 *
 * @param query `sources` and `destinations` as indexes between semicolons or `all`
 */
export function tableRequest(
  { profile, coordinates }: { readonly profile: string; readonly coordinates: string },
  query: Readonly<Record<string, unknown>>,
): string {
  const locations = coordinates.split(';').map((pair) => {
    const [lon, lat, ...more] = pair.split(',')
    return more.length > 0 ? {} : { lon, lat }
  })
  const picked = (value: unknown): unknown[] => {
    if (typeof value !== 'string' || value === 'all') return locations
    // A place that is not there is one that cannot be read.
    return value.split(';').map((index) => (/^\d{1,9}$/.test(index) ? locations[Number(index)] : null) ?? {})
  }
  const asked = UNHEEDED.filter((name) => query[name] !== undefined)
  return JSON.stringify({
    sources: picked(query.sources),
    targets: picked(query.destinations),
    costing: (MODES as readonly string[]).includes(profile) ? profile : (PROFILES[profile] ?? profile),
    format: 'osrm',
    annotations: query.annotations,
    unheeded: asked,
  })
}
