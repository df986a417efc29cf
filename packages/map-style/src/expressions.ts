import type { Coloring, Filter } from './document.ts'
import { colorsOf } from './palettes.ts'

/** An expression of MapLibre. */
export type Expression = readonly unknown[]

/** The colour of features that are in no class. */
export const UNCLASSED = '#8a949a'

/** The colour of a feature by its properties: a CSS colour, or an expression of MapLibre. */
export function colorOf(coloring: Coloring): string | Expression {
  if (coloring.by === 'one') return coloring.color
  const value = ['get', coloring.property]
  if (coloring.by === 'category') {
    const { values, palette } = coloring
    const colors = colorsOf(palette, values.length)
    const cases = values.slice(0, colors.length).flatMap((one, i) => [['==', value, one.value], colors[i]])
    return cases.length === 0 ? UNCLASSED : ['case', ...cases, UNCLASSED]
  }
  const { starts, palette, isReversed } = coloring
  const colors = colorsOf(palette, starts.length, isReversed)
  if (starts.length === 0) return UNCLASSED
  const stops = starts.slice(1).flatMap((start, i) => [start, colors[i + 1]])
  const step = stops.length === 0 ? colors[0] : ['step', ['number', value], colors[0], ...stops]
  // A tile may have numbers that are not finite; they belong to no class.
  const isClassed = ['all', isNumber(value), ['<=', ['abs', ['number', value]], Number.MAX_VALUE]]
  return ['case', isClassed, step, UNCLASSED]
}

function isNumber(value: Expression): Expression {
  return ['==', ['typeof', value], 'number']
}

/** The condition of all filters of a layer, and of one kind of geometry unless it is null. */
export function filterOf(filters: readonly Filter[], geometry: string | null): Expression {
  const kind = geometry === null ? [] : [['==', ['geometry-type'], geometry]]
  return ['all', ...kind, ...filters.map(conditionOf)]
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
      return ['all', isNumber(found), [is === 'less' ? '<' : '>', ['number', found], Number(value)]]
    case 'contains':
      return ['in', String(value).toLowerCase(), ['downcase', ['to-string', found]]]
    case 'empty':
      return ['any', ['!', ['has', property]], ['==', found, '']]
    case 'filled':
      return ['all', ['has', property], ['!=', found, '']]
  }
}
