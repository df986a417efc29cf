import type { Parameters } from '@terrane/database/rest-query'
import type { Kind } from './collection.ts'
import type { Node } from './cql2-text.ts'
import { badFilter } from './errors.ts'
import type { Numeral } from './exact-json.ts'

/** SQL of a value, or a literal that takes the type of the other operand. */
export type Value =
  | { readonly sql: string; readonly kind: Kind; readonly typeName?: string }
  | { readonly literal: string | number | Numeral | boolean }

/** Start and end of a time as SQL; both included. */
interface Span {
  readonly from: string
  readonly to: string
}

const DAY = /^\d{4}-\d\d-\d\d$/

/** Relations of the spans `a` and `b` (OGC 21-065r2, 7.10; Allen's interval algebra). */
const RELATIONS: Readonly<Record<string, (a: Span, b: Span) => string>> = {
  t_after: (a, b) => `${a.from} > ${b.to}`,
  t_before: (a, b) => `${a.to} < ${b.from}`,
  t_contains: (a, b) => `${a.from} < ${b.from} and ${a.to} > ${b.to}`,
  t_disjoint: (a, b) => `${a.from} > ${b.to} or ${a.to} < ${b.from}`,
  t_during: (a, b) => `${a.from} > ${b.from} and ${a.to} < ${b.to}`,
  t_equals: (a, b) => `${a.from} = ${b.from} and ${a.to} = ${b.to}`,
  t_finishedby: (a, b) => `${a.from} < ${b.from} and ${a.to} = ${b.to}`,
  t_finishes: (a, b) => `${a.from} > ${b.from} and ${a.to} = ${b.to}`,
  t_intersects: (a, b) => `${a.from} <= ${b.to} and ${a.to} >= ${b.from}`,
  t_meets: (a, b) => `${a.to} = ${b.from}`,
  t_metby: (a, b) => `${a.from} = ${b.to}`,
  t_overlappedby: (a, b) => `${a.from} > ${b.from} and ${a.from} < ${b.to} and ${a.to} > ${b.to}`,
  t_overlaps: (a, b) => `${a.from} < ${b.from} and ${a.to} > ${b.from} and ${a.to} < ${b.to}`,
  t_startedby: (a, b) => `${a.from} = ${b.from} and ${a.to} > ${b.to}`,
  t_starts: (a, b) => `${a.from} = ${b.from} and ${a.to} < ${b.to}`,
}

/** SQL of a temporal operator; null for unknown operators. */
export function temporalSql(
  op: string,
  args: readonly Node[],
  valueOf: (node: Node) => Value,
  parameters: Parameters,
): string | null {
  const relation = Object.hasOwn(RELATIONS, op) ? RELATIONS[op] : undefined
  if (!relation) return null
  const [a, b] = args.map((arg) => spanOf(arg, valueOf, parameters)) as [Span, Span]
  return `(${relation(a, b)})`
}

/** SQL of whether both ends of an interval have a value. */
export function hasEnds(node: Node, valueOf: (node: Node) => Value, parameters: Parameters): string {
  const { from, to } = spanOf(node, valueOf, parameters)
  return `(${from} is not null and ${to} is not null)`
}

function spanOf(node: Node, valueOf: (node: Node) => Value, parameters: Parameters): Span {
  const interval = typeof node === 'object' && node !== null && 'interval' in node ? node.interval : null
  if (interval === null) return instant(node, valueOf, parameters)
  if (!Array.isArray(interval) || interval.length !== 2) throw badFilter('an interval has two ends')
  const [from, to] = interval as [Node, Node]
  // Getters, because a statement with an unused parameter fails: only the ends that a relation needs become ones.
  return {
    get from() {
      return from === '..' ? `'-infinity'::timestamptz` : instant(from, valueOf, parameters).from
    },
    get to() {
      return to === '..' ? `'infinity'::timestamptz` : instant(to, valueOf, parameters).to
    },
  }
}

/** A moment as a span. A day is the span from its first to its last moment in UTC. */
function instant(node: Node, valueOf: (node: Node) => Value, parameters: Parameters): Span {
  const value = valueOf(node)
  if ('literal' in value) {
    if (typeof value.literal !== 'string') throw badFilter('a time is wanted where another value stands')
    return timeSpan(`${parameters.add(utcText(value.literal))}::timestamptz`, DAY.test(value.literal))
  }
  if (value.kind !== 'date' && value.kind !== 'instant')
    throw badFilter(`a time is wanted where a ${value.kind} stands`)
  return timeSpan(
    value.kind === 'date' ? `(${value.sql}::timestamp at time zone 'UTC')` : value.sql,
    value.kind === 'date',
  )
}

/** The span of a moment, or of the day that begins at it. */
export function timeSpan(moment: string, isDay: boolean): Span {
  return { from: moment, to: isDay ? `(${moment} + interval '1 day - 1 microsecond')` : moment }
}

/** A time without a zone is in UTC, independent of the session's zone. */
export function utcText(text: string): string {
  if (DAY.test(text)) return `${text}T00:00:00Z`
  return /T[\d:.]+$/.test(text) ? `${text}Z` : text
}
