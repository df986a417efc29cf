import type { Coloring, Filter } from './document.ts'
import { colorsOf } from './palettes.ts'

/** An expression of MapLibre. */
export type Expression = readonly unknown[]

/** The colour of features that are in no class. */
export const UNCLASSED = '#8a949a'

/**
 * The colour of a feature by its properties: a CSS colour, or an expression of MapLibre.
 *
 * @param shown replaces each colour
 */
export function colorOf(coloring: Coloring, shown = (color: string) => color): string | Expression {
  if (coloring.by === 'one') return shown(coloring.color)
  const value = ['get', coloring.property]
  if (coloring.by === 'category') {
    const { values, palette } = coloring
    const colors = colorsOf(palette, values.length).map(shown)
    const cases = values.slice(0, colors.length).flatMap((one, i) => [['==', value, one.value], colors[i]])
    return cases.length === 0 ? shown(UNCLASSED) : ['case', ...cases, shown(UNCLASSED)]
  }
  const { starts, palette, isReversed } = coloring
  const colors = colorsOf(palette, starts.length, isReversed).map(shown)
  if (starts.length === 0) return shown(UNCLASSED)
  const stops = starts.slice(1).flatMap((start, i) => [start, colors[i + 1]])
  const step = stops.length === 0 ? colors[0] : ['step', value, colors[0], ...stops]
  // A tile may have numbers that are not finite; they belong to no class.
  const isFinite = [
    ['>=', value, -Number.MAX_VALUE],
    ['<=', value, Number.MAX_VALUE],
  ]
  return ['case', ['all', ['has', coloring.property], isNumber(value), ...isFinite], step, shown(UNCLASSED)]
}

/** Whether a value is a number, in operators that QGIS converts, too: `typeof` and `number` are none of them. */
function isNumber(value: Expression): Expression {
  return ['==', value, ['to-number', value, 0]]
}

/**
 * The member `filter` of a layer: the condition of all filters, and of one kind of geometry unless it is null. Absent
 * without conditions, because QGIS draws nothing for an empty `all`.
 */
export function filterOf(filters: readonly Filter[], geometry: string | null): { filter?: Expression } {
  const kind = geometry === null ? [] : [['==', ['geometry-type'], geometry]]
  const all = [...kind, ...filters.map(conditionOf)]
  return all.length === 0 ? {} : { filter: ['all', ...all] }
}

function conditionOf({ property, is, value }: Filter): Expression {
  const found = ['get', property]
  switch (is) {
    case 'equal':
      return ['==', found, value]
    case 'not':
      return ['!=', found, value]
    case 'less':
    case 'more':
      return ['all', isNumber(found), [is === 'less' ? '<' : '>', found, Number(value)]]
    case 'contains':
      return ['in', String(value).toLowerCase(), ['downcase', ['to-string', found]]]
    case 'empty':
      return ['any', ['!', ['has', property]], ['==', found, '']]
    case 'filled':
      return ['all', ['has', property], ['!=', found, '']]
  }
}
