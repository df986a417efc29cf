/** Default minimum share of valid pixels for an embedding of a tile. */
export const MIN_VALID_FRACTION = 0.5

/** Whether a tile with this share of valid pixels gets an embedding; others are skipped and counted. */
export function isValidTile(validFraction: number, minValidFraction: number): boolean {
  return validFraction >= minValidFraction
}
