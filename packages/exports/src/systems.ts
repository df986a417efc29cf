import type { ScanColumn } from '@terrane/database/scan'
import type { Losses } from './losses.ts'

const WGS84 = 4326

/** The column that {@link SystemCounts} reads: EPSG codes, 0 for a geometry without one. */
export function systemColumn(geometry: string): ScanColumn {
  return { sql: `st_srid(${geometry})`, type: 'int8' }
}

/** Counts the rows of each reference system. */
export class SystemCounts {
  readonly #rows = new Map<number, number>()

  add(codes: readonly unknown[], rows: number): void {
    for (let row = 0; row < rows; row++) {
      const code = codes[row]
      if (typeof code === 'number' && code !== 0) this.#rows.set(code, (this.#rows.get(code) ?? 0) + 1)
    }
  }

  /** With several systems a file has all rows in EPSG:4326. Counts the transformed rows, and names their systems. */
  tell(losses: Losses): void {
    if (this.#rows.size < 2) return
    const others = [...this.#rows].filter(([code]) => code !== WGS84)
    const count = others.reduce((sum, [, rows]) => sum + rows, 0)
    const message =
      'Geometries of one column have several reference systems: they were transformed to longitude and latitude (EPSG:4326).'
    const names = others.map(([code]) => `EPSG:${code}`)
    losses.add('SYSTEMS_MIXED', message, count, names)
  }
}
