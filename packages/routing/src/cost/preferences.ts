import type { OptionReader } from './profile.ts'

/** Preference for a kind of street: penalty in seconds for entering it, and a factor of its cost. */
interface Preference {
  readonly factor: number
  readonly penalty: number
}

const MOST_FERRY_SECONDS = 6 * 3600

/** Factors and penalties of kinds of streets by the `use_…` options: 0 avoids, 0.5 is neutral, 1 likes. */
export function preferences({ number }: OptionReader) {
  return {
    tracks: preference(number('use_tracks'), { penalty: 300, least: 0.8, most: 4 }),
    livingStreets: preference(number('use_living_streets'), { penalty: 500, least: 0.8, most: 3 }),
    ferry: ferryPreference(number('use_ferry')),
    railFerry: ferryPreference(number('use_rail_ferry')),
    unlit: steep(number('use_lit')),
  }
}

function preference(use: number, range: { penalty: number; least: number; most: number }): Preference {
  const { penalty, least, most } = range
  if (use < 0.5) return { factor: most - 2 * use * (most - 1), penalty: penalty * (1 - 2 * use) }
  return { factor: least + 2 * (1 - use) * (1 - least), penalty: 0 }
}

function ferryPreference(use: number): Preference {
  if (use >= 0.5) return { factor: 1.5 - use, penalty: 0 }
  return { factor: 10 - use * 18, penalty: Math.trunc(MOST_FERRY_SECONDS * (1 - use * 2)) }
}

/** Rises from 1 to 2 in the middle of the range, and from there to 8. */
export function steep(use: number): number {
  return use < 0.5 ? 1 + 2 * use : -4 + 12 * use
}

/** Zero at 0.5, slowly down to −0.125 at 1, up to 8 at 0. */
export function avoidance(use: number): number {
  return use >= 0.5 ? (0.5 - use) ** 3 : 8 * (1 - 2 * use) ** 2
}

/** Weights by the use of an edge; other uses have the weight `otherwise`. */
export function byUse(weights: Readonly<Record<number, number>>, otherwise: number): readonly number[] {
  return Array.from({ length: 64 }, (_, use) => weights[use] ?? otherwise)
}
