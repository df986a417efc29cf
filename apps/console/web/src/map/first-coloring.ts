import type { Coloring } from '@terrane/map-style'
import type { ColumnStats } from './live.ts'

/** Column names that often have interesting numbers. */
const TELLING = /pop|count|total|value|price|height|level|area|density|amount|rate|score|temp|speed|people|inhabitants/i
/** Column names that are identifiers; a join renames one to `id_2`. */
const NAMES = /(^|_)((id|fid|gid)(_\d+)?|code|zip|srid|osm_type|year|number|nr)$/i
/** Column names of positions. */
const PLACES = /^(lat|lon|lng|long|latitude|longitude|x|y|lat_?deg|lon_?deg)$/i
/** Maximum categories: the number of colours in a palette. */
const MOST_CATEGORIES = 7
/** Maximum columns whose values are counted for a first style. */
const MOST_ASKED = 4

/** Types of properties by name. */
export type Fields = Readonly<Record<string, ColumnStats['type']>>

/**
 * Default colouring of data: classes of a column of telling numbers, else categories of a column with few values, else
 * classes of another numeric column. Null means a single colour.
 */
export async function firstColoring(
  fields: Fields,
  statsOf: (name: string) => ColumnStats | Promise<ColumnStats>,
): Promise<Coloring | null> {
  const names = Object.keys(fields).filter((name) => !NAMES.test(name))
  const numbers = names.filter((name) => fields[name] === 'Number' && TELLING.test(name)).slice(0, 1)
  const kinds = names.filter((name) => fields[name] !== 'Number').slice(0, MOST_ASKED - numbers.length)
  const others = names.filter((name) => fields[name] === 'Number' && !TELLING.test(name) && !PLACES.test(name))
  for (const name of [...numbers, ...kinds, ...others.slice(0, 1)]) {
    const stats = await statsOf(name)
    const { type, distinct, rows, missing } = stats
    // Most features would have the colour of no value.
    if (missing > rows / 2) continue
    const least = TELLING.test(name) ? 1 : MOST_CATEGORIES
    if (type === 'Number' && distinct > least) return numberColoring(name, stats)
    if (type !== 'Number' && distinct > 1 && distinct <= MOST_CATEGORIES && rows > distinct)
      return categoryColoring(name, stats, 'vivid')
  }
  return null
}

/** Colours of the most frequent values. */
export function categoryColoring(property: string, stats: ColumnStats, palette: string): Coloring {
  const { rows, missing, values } = stats
  const shown = values.slice(0, MOST_CATEGORIES)
  const others = rows - missing - shown.reduce((sum, one) => sum + one.rows, 0)
  return { by: 'category', property, palette, values: shown, others, missing }
}

/** Colours of classes of about equal count. */
function numberColoring(property: string, { classes, missing }: ColumnStats): Coloring {
  return {
    by: 'number',
    property,
    method: 'quantile',
    palette: 'viridis',
    isReversed: false,
    starts: classes.map(({ from }) => from),
    high: classes.at(-1)?.to ?? 0,
    rows: classes.map(({ rows }) => rows),
    missing,
  }
}
