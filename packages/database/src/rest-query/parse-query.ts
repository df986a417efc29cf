import { badQuery, notEmbedded } from './errors.ts'
import { count, fieldPath, list, resourcePath } from './fields.ts'
import { indexOutsideQuotes, unquote } from './query-text.ts'
import { filter, isFilterText, logic } from './parse-filters.ts'
import { parseSelect, type OpenResource } from './parse-select.ts'
import type { OrderItem, RestQuery } from './query.ts'

const RESERVED: ReadonlySet<string> = new Set([
  'select',
  'order',
  'limit',
  'offset',
  'columns',
  'on_conflict',
  'and',
  'or',
  'not.and',
  'not.or',
])
/** Parameters of an embedded resource beside filters: `districts.order`. */
const WORDS_OF_EMBEDDED: ReadonlySet<string> = new Set(['order', 'limit', 'offset', 'and', 'or', 'not.and', 'not.or'])
const OF_EMBEDDED = /\.(?:order|limit|offset|and|or)$/
/** Maximum length of the query string, in characters after decoding. */
const MAX_QUERY_LENGTH = 16_384

/**
 * Parses the query string of a table or function as PostgREST does (manual: tables and views, horizontal and vertical
 * filtering, operators, ordering, limits, resource embedding), in time linear in its length.
 *
 * @param isTree whether resources may be embedded; otherwise a dot is a part of a column's name
 * @throws PGRST100 with the parameter that does not parse; PGRST108 when one is of a resource that is not embedded
 */
export function parseQuery(parameters: URLSearchParams, isTree = false): RestQuery {
  refuseUnreadable(parameters)
  const root: OpenResource = { ...parseSelect(parameters.get('select')), ...NO_PAGE }
  if (!isTree && root.embeds.length > 0)
    throw badQuery({ parameter: 'select parameter', detail: 'no tables are embedded and no rows are grouped here' })
  for (const [name, value] of parameters) {
    if (name !== 'select' && name !== 'columns' && name !== 'on_conflict') read(root, name, value, isTree)
  }
  return { ...root, columns: names(parameters.get('columns')), onConflict: names(parameters.get('on_conflict')) }
}

const NO_PAGE = { conditions: [], order: [], limit: null, offset: 0 }

/** Reads a parameter into its resource. */
function read(root: OpenResource, name: string, value: string, isTree: boolean): void {
  const isOfEmbedded = isTree && !RESERVED.has(name)
  const { path, rest } = isOfEmbedded ? resourcePath(name) : { path: [], rest: name }
  const isNegated = rest !== name && path.at(-1) === 'not' && (rest === 'and' || rest === 'or')
  const resource = embedded(root, isNegated ? path.slice(0, -1) : path)
  const word = isNegated ? `not.${rest}` : rest
  const isReserved = path.length === 0 ? RESERVED.has(name) : WORDS_OF_EMBEDDED.has(word)
  if (!isReserved) resource.conditions = [...resource.conditions, filter(rest, value)]
  else if (word === 'order')
    resource.order = [...resource.order, ...list(value, name).map((item) => orderItem(item, isTree))]
  else if (word === 'limit') resource.limit = count(value, name)
  else if (word === 'offset') resource.offset = count(value, name) ?? 0
  else {
    const kind = word.endsWith('and') ? 'and' : 'or'
    resource.conditions = [...resource.conditions, logic(kind, word.startsWith('not.'), value)]
  }
}

function embedded(root: OpenResource, path: readonly string[]): OpenResource {
  let resource = root
  for (const name of path) {
    const { embeds } = resource
    const found =
      embeds.find((embed) => (embed.alias ?? embed.target) === name) ?? embeds.find(({ target }) => target === name)
    if (!found) throw notEmbedded({ name })
    resource = found
  }
  return resource
}

/** True for a parameter of a call by GET that is an argument: neither an instruction nor a filter of the rows, `gt.5`. */
export function isArgument([name, value]: readonly [string, string]): boolean {
  return !RESERVED.has(name) && !OF_EMBEDDED.test(name) && !isFilterText(value)
}

function refuseUnreadable(parameters: URLSearchParams): void {
  let length = 0
  for (const [name, value] of parameters) {
    length += name.length + value.length + 2
    if (length > MAX_QUERY_LENGTH)
      throw badQuery({ parameter: 'the query string', detail: `it is longer than ${MAX_QUERY_LENGTH} characters` })
    if (name.includes('\0') || value.includes('\0'))
      throw badQuery({
        parameter: `parameter ${name.replaceAll('\0', '\\0')}`,
        detail: 'a zero byte is part of no name and no value',
      })
  }
}

/** `column[.asc|.desc][.nullsfirst|.nullslast]`; the column may belong to an embedded resource: `districts(name)`. */
function orderItem(text: string, isTree: boolean): OrderItem {
  const [body, nulls] = withoutSuffix(text, ['.nullsfirst', '.nullslast'])
  const [column, direction] = withoutSuffix(body, ['.asc', '.desc'])
  const open = isTree && column.endsWith(')') ? indexOutsideQuotes(column, '(') : -1
  return {
    field: fieldPath(open < 0 ? column : column.slice(open + 1, -1), 'order'),
    relation: open < 0 ? null : unquote(column.slice(0, open)),
    descending: direction === '.desc',
    nulls: nulls === '.nullsfirst' ? 'first' : nulls === '.nullslast' ? 'last' : null,
  }
}

function withoutSuffix(text: string, suffixes: readonly string[]): [rest: string, suffix: string | null] {
  const suffix = suffixes.find((s) => text.endsWith(s)) ?? null
  return suffix === null ? [text, null] : [text.slice(0, -suffix.length), suffix]
}

function names(text: string | null): string[] | null {
  return text === null || text === '' ? null : list(text, 'columns').map(unquote)
}
