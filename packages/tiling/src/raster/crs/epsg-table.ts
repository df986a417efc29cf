import { readFileSync } from 'node:fs'

/** A line of the table. */
export interface TableEntry {
  readonly epsg: number
  readonly name: string
  /** Largest distance from PROJ in the area of use, in meters; null where it cannot be computed. */
  readonly residual: number | null
  /**
   * Null where the residual is too large to use it. Without `+towgs84` no shift is published. With `+towgs84=@code` the shift depends on the position
   * (datum-shifts.ts).
   */
  readonly definition: string | null
}

let text: string | null = null
let names: Map<string, number> | null = null

/**
 * The EPSG data set, reduced to what proj4 can use (made by tools/crs-table.ts). The text is searched without parsing,
 * because a raster needs one line of it.
 */
export function findInTable(epsg: number): TableEntry | null {
  const table = read()
  const start = table.indexOf(`\n${epsg}\t`) + 1
  return start === 0 ? null : parse(table.slice(start, table.indexOf('\n', start)))
}

/** The code of the CRS with a name, regardless of case and punctuation; null when none or several have it. */
export function findByName(name: string): number | null {
  names ??= indexNames()
  const code = names.get(nameKey(name))
  return code === undefined || code === AMBIGUOUS ? null : code
}

const AMBIGUOUS = -1

function indexNames(): Map<string, number> {
  const index = new Map<string, number>()
  for (const line of read().split('\n')) {
    if (!/^\d/.test(line)) continue
    const { epsg, name } = parse(line)
    const key = nameKey(name)
    index.set(key, index.has(key) ? AMBIGUOUS : epsg)
  }
  return index
}

/** `NAD_1983_UTM_Zone_16N`, `NAD83 / UTM zone 16N` and `NAD83 UTM Zone 16N` have the same key. */
function nameKey(name: string): string {
  const words = name.toLowerCase().replace(/[^a-z0-9().+-]+/g, ' ')
  return words
    .replace(/\b(nad|wgs|etrs|gda|nzgd) (?:19)?(\d\d|20\d\d)\b/g, '$1$2')
    .replace(/\bd (?=[a-z])/g, '')
    .replaceAll(' ', '')
}

function parse(line: string): TableEntry {
  const [epsg = '', name = '', residual = '', definition = ''] = line.split('\t')
  return {
    epsg: Number(epsg),
    name,
    residual: residual === '' ? null : Number(residual),
    definition: definition === '' ? null : definition,
  }
}

function read(): string {
  return (text ??= readFileSync(new URL('./epsg.tsv', import.meta.url), 'utf8'))
}
