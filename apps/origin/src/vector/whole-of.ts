import { quoteIdentifier } from '@terrane/database'
import { badTile } from './errors.ts'

/** An integer parameter within its bounds; null when it is not given. @throws PGRST100 */
export function wholeOf(
  text: string | null,
  name: string,
  least: number,
  most: number,
  refuse: (detail: string) => Error = badTile,
): number | null {
  if (text === null) return null
  const value = Number(text)
  if (/^\d{1,9}$/.test(text) && value >= least && value <= most) return value
  throw refuse(`${name} is ${quoteIdentifier(text)}: a whole number from ${least} to ${most} is wanted`)
}
