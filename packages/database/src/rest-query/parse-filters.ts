import { badQuery } from './errors.ts'
import { closed, fieldPath, list } from './fields.ts'
import { enclosed, indexOutsideQuotes, listElements, readOperator, splitOutside, unquote } from './query-text.ts'
import { expandedSize } from './pattern-size.ts'
import type { Condition, Filter, Logic } from './query.ts'

const OPERATORS: ReadonlySet<string> = new Set(
  'eq neq gt gte lt lte like ilike match imatch is isdistinct in cs cd ov sl sr nxr nxl adj fts plfts phfts wfts'.split(
    ' ',
  ),
)
const PATTERNS: ReadonlySet<string> = new Set(['match', 'imatch'])
/** Maximum characters that written-out bounds add to a regular expression: the server needs memory for each. */
const MAX_EXPANDED = 1000
const QUANTIFIED: ReadonlySet<string> = new Set('eq gte gt lte lt like ilike match imatch'.split(' '))
/** Maximum nesting of and/or. */
const MAX_DEPTH = 20

/** `column=operator.value`. @throws PGRST100 */
export function filter(name: string, text: string): Filter {
  const parameter = `filter (${text.slice(0, 200)})`
  const field = fieldPath(name, 'filter')
  const found = readOperator(text)
  if (!found || !OPERATORS.has(found.name)) {
    throw badQuery({
      parameter: parameter,
      detail: `expected an operator like eq.value, one of ${[...OPERATORS].join(', ')}`,
    })
  }
  const { negated, name: operator, argument, value } = found
  const isSearch = operator.endsWith('fts')
  if (argument !== null && !isSearch && !(QUANTIFIED.has(operator) && (argument === 'any' || argument === 'all'))) {
    throw badQuery({ parameter: parameter, detail: `${operator} takes no (${argument.slice(0, 200)})` })
  }
  const quantifier = isSearch ? null : (argument as 'any' | 'all' | null)
  const inner = operator === 'in' ? enclosed(value, '(', ')') : quantifier ? enclosed(value, '{', '}') : null
  if ((operator === 'in' || quantifier) && inner === null)
    throw badQuery({ parameter: parameter, detail: 'expected a list' })
  const filtered =
    inner === null
      ? value
      : operator === 'in'
        ? closed(listElements(inner), parameter)
        : list(inner, parameter).map(unquote)
  if (PATTERNS.has(operator)) refuseCostlyPatterns([filtered].flat(), parameter)
  return {
    kind: 'filter',
    negated,
    field,
    operator,
    quantifier,
    config: isSearch ? argument : null,
    value: filtered,
  }
}

function refuseCostlyPatterns(patterns: readonly string[], parameter: string): void {
  const grown = patterns.reduce((sum, pattern) => sum + Math.max(0, expandedSize(pattern) - pattern.length), 0)
  if (grown > MAX_EXPANDED)
    throw badQuery({
      parameter,
      detail: `the bounds of its regular expression, as in (x{1,9}){1,9}, repeat more than ${MAX_EXPANDED} characters; use smaller ones`,
    })
}

/** `and` or `or` with its terms. @throws PGRST100 */
export function logic(kind: 'and' | 'or', negated: boolean, text: string, depth = 0): Logic {
  const inner = enclosed(text.trim(), '(', ')')
  if (inner === null || depth > MAX_DEPTH)
    throw badQuery({ parameter: `logic tree (${text.slice(0, 200)})`, detail: 'expected (a.eq.1,b.eq.2)' })
  return {
    kind,
    negated,
    terms: closed(splitOutside(inner, ',', true), 'logic tree').map((term) => logicTerm(term, depth)),
  }
}

/** `[not.]and(…)`, `[not.]or(…)` or `column.operator.value`; a value with special characters is quoted there. */
function logicTerm(term: string, depth: number): Condition {
  const negated = term.startsWith('not.')
  const rest = negated ? term.slice(4) : term
  const kind = rest.startsWith('and(') ? 'and' : rest.startsWith('or(') ? 'or' : null
  if (kind && rest.endsWith(')')) return logic(kind, negated, rest.slice(kind.length), depth + 1)
  const dot = indexOutsideQuotes(term, '.')
  if (dot < 1 || dot === term.length - 1)
    throw badQuery({ parameter: `logic tree (${term.slice(0, 200)})`, detail: 'expected column.operator.value' })
  const condition = term.slice(dot + 1)
  const value = readOperator(condition)?.value ?? ''
  return filter(term.slice(0, dot), condition.slice(0, condition.length - value.length) + unquote(value))
}

/** Whether a value begins with an operator: `gt.5`. */
export function isFilterText(text: string): boolean {
  return OPERATORS.has(readOperator(text)?.name ?? '')
}
