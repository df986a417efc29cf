// Determines the order of long suites, and which of them run whatever the budget is.
import { seededRandom } from '@terrane/core'

/** Each day 1 / DAYS of the suites run first, whatever the budget is. */
const DAYS = 10

/** Facts about a suite for its order. */
export interface Candidate {
  /** `packages/osm: pbf`. */
  readonly title: string
  /** Whether its own files, or support files that it imports, changed. */
  readonly isTouched: boolean
  /** Changed lines of its package; 0 when its behaviour is the same. */
  readonly changedLines: number
  /** Whether a package that its own depends on has changed. */
  readonly dependsOnChanged: boolean
  /** Whether it runs without other suites beside it. */
  readonly isAlone: boolean
}

/** A suite with its place in the order. */
export interface Ordered<T> {
  readonly suite: T
  /** Suites of a lower rank come first. */
  readonly rank: number
  /** Whether it runs whatever the budget is. */
  readonly isDue: boolean
}

/**
 * Suites in the order in which they run: the share of the day, edited suites, suites that earlier runs left out (in the
 * order of `owed`, titles), suites of changed packages in descending order of changed lines, suites of their
 * dependents, and all others. Equal ones are shuffled by `seed`; `day` counts days, so that a suite is left out for at
 * most nine days as long as no suite is added.
 */
export function orderOf<T extends Candidate>(
  suites: readonly T[],
  { owed, day, seed }: { readonly owed: readonly string[]; readonly day: number; readonly seed: number },
): Ordered<T>[] {
  const random = seededRandom(seed)
  // Suites that run alone leave the machine half idle; on some days they come last, where the budget may end.
  const aloneFirst = random() < 0.5
  const shares = new Map(suites.toSorted(byTitle).map(({ title }, index) => [title, index % DAYS]))
  return suites
    .map((suite) => {
      const rank = rankOf(suite, owed.includes(suite.title), shares.get(suite.title) === day % DAYS)
      const keys = [
        rank,
        rank === 2 ? owed.indexOf(suite.title) : Number(suite.isAlone !== aloneFirst),
        -suite.changedLines,
        random(),
      ]
      return { suite, rank, isDue: rank === 0, keys }
    })
    .toSorted((a, b) => {
      const index = a.keys.findIndex((key, at) => key !== b.keys[at])
      return index === -1 ? 0 : a.keys[index]! - b.keys[index]!
    })
    .map(({ suite, rank, isDue }) => ({ suite, rank, isDue }))
}

function rankOf(suite: Candidate, isOwed: boolean, isOfToday: boolean): number {
  if (isOfToday) return 0
  if (suite.isTouched) return 1
  if (isOwed) return 2
  if (suite.changedLines > 0) return 3
  return suite.dependsOnChanged ? 4 : 5
}

function byTitle(a: Candidate, b: Candidate): number {
  return a.title < b.title ? -1 : 1
}
