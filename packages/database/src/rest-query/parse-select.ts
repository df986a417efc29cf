import { badQuery } from './errors.ts'
import { fieldPath, list } from './fields.ts'
import { indexOutsideQuotes, unquote } from './query-text.ts'
import { AGGREGATES, type Aggregate, type Embed, type Resource, type SelectItem } from './query.ts'

/** Maximum levels of embedded resources. */
const MAX_EMBED_DEPTH = 10
/** Maximum embedded resources of a query. */
const MAX_EMBEDS = 40
/** Items of a query that may read the same field again: the server builds whole rows before bytes are counted. */
const MAX_REPEATS = 32

/** An embedded resource while its parameters are read. */
export type OpenEmbed = Open<Embed>
export type OpenResource = Open<Resource>
type Open<T> = { -readonly [K in Exclude<keyof T, 'embeds'>]: T[K] } & { embeds: OpenEmbed[] }

/** Parses `select`: columns, aggregates and embedded resources. @throws PGRST100 */
export function parseSelect(text: string | null): Pick<OpenResource, 'select' | 'embeds'> {
  if (text === null || text.trim() === '' || text === '*') return { select: null, embeds: [] }
  return items(text, 0, { embeds: 0, repeats: 0 })
}

function items(
  text: string,
  depth: number,
  seen: { embeds: number; repeats: number },
): Pick<OpenResource, 'embeds'> & {
  select: SelectItem[]
} {
  const select: SelectItem[] = []
  const embeds: OpenEmbed[] = []
  for (const item of list(text, 'select')) {
    const open = indexOutsideQuotes(item, '(')
    const head = open < 0 ? item : item.slice(0, open)
    const aggregate = open < 0 ? null : aggregateItem(head, item.slice(open))
    if (open < 0) select.push(plainItem(item))
    else if (aggregate) select.push(aggregate)
    else if (!item.endsWith(')')) throw unreadable(item, 'nothing may follow an embedded resource')
    else {
      if (depth >= MAX_EMBED_DEPTH)
        throw unreadable(item, `resources are embedded ${MAX_EMBED_DEPTH} levels deep at most`)
      if (++seen.embeds > MAX_EMBEDS) throw unreadable(item, `${MAX_EMBEDS} resources are embedded at most`)
      embeds.push({ ...embedHead(head), ...items(item.slice(open + 1, -1), depth + 1, seen) })
    }
  }
  const fields = select
    .filter(({ aggregate }) => aggregate !== 'count')
    .map(({ field, aggregate }) => JSON.stringify([field, aggregate]))
  seen.repeats += fields.length - new Set(fields).size
  if (seen.repeats > MAX_REPEATS)
    throw unreadable(text, `${MAX_REPEATS} items at most read a column or path that another one reads`)
  return { select, embeds }
}

/** `[alias:]column[->path][::type]` */
function plainItem(text: string): SelectItem {
  const at = text.lastIndexOf('::')
  const type = at < 0 ? '' : text.slice(at + 2)
  const cast = type !== '' && isTypeName(type) ? type.trim() : null
  const [alias, field] = withoutAlias(cast === null ? text : text.slice(0, at))
  return { alias, field: fieldPath(field, 'select'), cast, aggregate: null, aggregateCast: null }
}

/** `[alias:]column[->path][::type].sum()[::type]` or `[alias:]count()[::type]`; null for another text. */
function aggregateItem(head: string, tail: string): SelectItem | null {
  const dot = head.lastIndexOf('.')
  const [alias, name] = withoutAlias(head)
  const isCount = name === 'count'
  const aggregate = isCount ? 'count' : (head.slice(dot + 1) as Aggregate)
  const type = /^\(\)(?:::([\w ]+))?$/.exec(tail)
  if (!type || (!isCount && (dot < 1 || !AGGREGATES.includes(aggregate)))) return null
  const aggregateCast = type[1]?.trim() ?? null
  if (isCount) return { alias, field: { column: '*', path: [] }, cast: null, aggregate, aggregateCast }
  return { ...plainItem(head.slice(0, dot)), aggregate, aggregateCast }
}

/** `[alias:]target[!hint][!inner|!left]` or `...target[!hint][!inner|!left]` */
function embedHead(text: string): Omit<OpenEmbed, 'select' | 'embeds'> {
  const isSpread = text.startsWith('...')
  const [alias, rest] = isSpread ? [null, text.slice(3)] : withoutAlias(text)
  const [target = '', ...parameters] = list(rest, 'select', '!').map(unquote)
  const hints = parameters.filter((p) => p !== 'inner' && p !== 'left')
  if (target === '' || parameters.length > 2 || hints.length > 1)
    throw unreadable(text, 'expected [alias:]table[!hint][!inner](columns)')
  const page = { conditions: [], order: [], limit: null, offset: 0 }
  return { target, alias, hint: hints[0] ?? null, isInner: parameters.includes('inner'), isSpread, ...page }
}

function withoutAlias(text: string): [alias: string | null, rest: string] {
  const colon = indexOutsideQuotes(text, ':')
  const hasAlias = colon > 0 && text[colon + 1] !== ':' && colon + 1 < text.length
  return hasAlias ? [unquote(text.slice(0, colon).trim()), text.slice(colon + 1).trim()] : [null, text]
}

function unreadable(text: string, detail: string): Error {
  return badQuery({ parameter: `select parameter (${text.slice(0, 200)})`, detail })
}

/** Whether a text may follow `::` as a type name: words of letters, digits and `_`. */
function isTypeName(text: string): boolean {
  return /^[\w ]+$/.test(text)
}
