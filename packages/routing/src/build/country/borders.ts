/** Facts of a position that depend on its country. */
export interface Borders {
  /** ISO 3166-1 alpha-2 code of the country, in capitals; null on the high seas. */
  codeAt(lon: number, lat: number): string | null
  /** Driving side; right on the high seas. */
  sideAt(lon: number, lat: number): 'left' | 'right'
}

/** Loads the borders of `@rapideditor/country-coder`, which only builds need: 3 MB and a third of a second. */
export async function openBorders(): Promise<Borders> {
  const { driveSide, iso1A2Code } = await import('@rapideditor/country-coder')
  return {
    codeAt: (lon, lat) => iso1A2Code([lon, lat]),
    sideAt: (lon, lat) => (driveSide([lon, lat]) === 'left' ? 'left' : 'right'),
  }
}
