import { parser } from '@prometheus-io/lezer-promql'

type SyntaxNode = ReturnType<typeof parser.parse>['topNode']

/** A series with its samples, the oldest first; times in seconds. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>
  readonly samples: readonly (readonly [time: number, value: number])[]
}

/** Series by the name of their metric. */
export type Scrapes = Readonly<Record<string, readonly Series[]>>

interface Point {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** An instant vector, or a number. */
type Value = readonly Point[] | number

/** Age up to which a selector without a range uses a sample, as in Prometheus. */
const LOOKBACK_SECONDS = 300
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/**
 * Evaluates the subset of PromQL that the shipped alerts use: selectors, subqueries, `rate`, `increase`, `deriv`,
 * `min_over_time`, `max_over_time`, `sum`, `min` and `max` by labels, `*`, comparisons, `and`, and `unless` on labels.
 *
 * @throws for anything else
 */
function evaluate(expr: string, scrapes: Scrapes, at: number): readonly Point[] {
  const text = (node: SyntaxNode) => expr.slice(node.from, node.to)
  const known: Readonly<Record<string, (node: SyntaxNode) => Value>> = {
    NumberDurationLiteral: (node) => Number(text(node)),
    ParenExpr: (node) => value(node.firstChild!),
    VectorSelector: (node) =>
      select(node, LOOKBACK_SECONDS).map(({ labels, samples }) => ({ labels, value: samples.at(-1)![1] })),
    FunctionCall: call,
    AggregateExpr: aggregate,
    BinaryExpr: combine,
  }

  function value(node: SyntaxNode): Value {
    const read = known[node.name]
    if (!read) throw new Error(`${node.name} is not evaluated: ${text(node)}`)
    return read(node)
  }

  function select(node: SyntaxNode, seconds: number): Series[] {
    const name = text(node.getChild('Identifier')!)
    const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []
    const tests = matchers.map((matcher) => {
      const label = text(matcher.getChild('LabelName')!)
      const wanted = text(matcher.getChild('StringLiteral')!).slice(1, -1)
      const operator = text(matcher.getChild('MatchOp')!)
      const pattern = operator.endsWith('~') ? new RegExp(`^(?:${wanted})$`) : null
      return ({ labels }: Series) =>
        (pattern ? pattern.test(labels[label] ?? '') : labels[label] === wanted) !== operator.startsWith('!')
    })
    return (scrapes[name] ?? [])
      .filter((series) => tests.every((test) => test(series)))
      .map(({ labels, samples }) => ({
        labels,
        samples: samples.filter(([time]) => time > at - seconds && time <= at),
      }))
      .filter(({ samples }) => samples.length > 0)
  }

  function call(node: SyntaxNode): Value {
    const name = text(node.firstChild!)
    const body = node.getChild('FunctionCallBody')!
    const { series, seconds } = body.getChild('SubqueryExpr')
      ? subquery(body.getChild('SubqueryExpr')!)
      : matrix(body.getChild('MatrixSelector')!)
    return series.flatMap(({ labels, samples }) => {
      const found = overRange(name, samples, seconds)
      return found === null ? [] : [{ labels, value: found }]
    })
  }

  function matrix(range: SyntaxNode) {
    const seconds = secondsOf(range.getChild('DurationExpr')!)
    return { series: select(range.getChild('VectorSelector')!, seconds), seconds }
  }

  /** `expression[range:step]`: the expression at each multiple of the step within the range. */
  function subquery(node: SyntaxNode) {
    const [seconds, step] = node.getChildren('DurationExpr').map(secondsOf) as [number, number]
    const inner = text(node.firstChild!)
    const series = new Map<string, { labels: Point['labels']; samples: [number, number][] }>()
    for (let time = Math.ceil((at - seconds + 1e-9) / step) * step; time <= at; time += step) {
      for (const point of evaluate(inner, scrapes, time)) {
        const key = JSON.stringify(point.labels)
        const found = series.get(key) ?? { labels: point.labels, samples: [] }
        found.samples.push([time, point.value])
        series.set(key, found)
      }
    }
    return { series: [...series.values()], seconds }
  }

  function secondsOf(duration: SyntaxNode): number {
    const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(text(duration)) ?? []
    return Number(count) * UNIT_SECONDS[unit]!
  }

  function aggregate(node: SyntaxNode): Value {
    const labels =
      node.getChild('AggregateModifier')?.getChild('GroupingLabels')?.getChildren('LabelName').map(text) ?? []
    const body = node.getChild('FunctionCallBody')!
    const inner = value(body.firstChild!) as readonly Point[]
    const groups = Map.groupBy(inner, (point) => JSON.stringify(labels.map((label) => point.labels[label] ?? '')))
    const reduce = { sum: (a: number, b: number) => a + b, min: Math.min, max: Math.max }[text(node.firstChild!)]!
    return [...groups.values()].map((group) => ({
      labels: Object.fromEntries(labels.map((label) => [label, group[0]!.labels[label] ?? ''])),
      value: group.map((point) => point.value).reduce((a, b) => reduce(a, b)),
    }))
  }

  function combine(node: SyntaxNode): Value {
    const [left, operator, right] = [node.firstChild!, node.firstChild!.nextSibling!, node.lastChild!]
    const matching = node.getChild('MatchingModifierClause')
    const on = matching?.getChild('On') && matching.getChild('GroupingLabels')?.getChildren('LabelName').map(text)
    return operate({ operator: text(operator), on: on ?? null }, value(left), value(right))
  }

  const found = value(parsed(expr))
  return typeof found === 'number' ? [{ labels: {}, value: found }] : found
}

/** Expressions are evaluated at many times and parsed once. */
const trees = new Map<string, SyntaxNode>()

function parsed(expr: string): SyntaxNode {
  const tree = trees.get(expr) ?? parser.parse(expr).topNode.firstChild!
  trees.set(expr, tree)
  return tree
}

function overRange(name: string, samples: Series['samples'], seconds: number): number | null {
  const values = samples.map(([, value]) => value)
  if (name === 'min_over_time') return Math.min(...values)
  if (name === 'max_over_time') return Math.max(...values)
  if (samples.length < 2) return null
  if (name === 'deriv') return slope(samples)
  // After a restart a counter starts from zero, so its new value counts completely. There is no extrapolation as in
  // Prometheus.
  const grown = values.slice(1).reduce((sum, value, i) => sum + (value >= values[i]! ? value - values[i]! : value), 0)
  if (name === 'increase') return grown
  if (name === 'rate') return grown / seconds
  throw new Error(`${name} is not evaluated`)
}

/** Slope of the line of least squares, per second. */
function slope(samples: Series['samples']): number {
  const mean = (at: 0 | 1) => samples.reduce((sum, sample) => sum + sample[at], 0) / samples.length
  const [time, value] = [mean(0), mean(1)]
  const covariance = samples.reduce((sum, [t, v]) => sum + (t - time) * (v - value), 0)
  return covariance / samples.reduce((sum, [t]) => sum + (t - time) ** 2, 0)
}

const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = { '*': (a, b) => a * b }
const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '==': (a, b) => a === b,
}

interface Operation {
  readonly operator: string
  /** Labels by which samples of two vectors match; null for all. */
  readonly on: readonly string[] | null
}

/** A vector keeps its labels. */
function operate({ operator, on }: Operation, left: Value, right: Value): Value {
  const arithmetic = ARITHMETIC[operator]
  const compare = COMPARISONS[operator]
  if (typeof left === 'number') {
    if (!arithmetic) throw new Error(`${operator} with a number on the left is not evaluated`)
    if (typeof right === 'number') return arithmetic(left, right)
    return right.map(({ labels, value }) => ({ labels, value: arithmetic(left, value) }))
  }
  const other = (point: Point): number | undefined =>
    typeof right === 'number' ? right : right.find(({ labels }) => isSame(labels, point.labels, on))?.value
  return left.flatMap((point) => {
    const against = other(point)
    if (operator === 'unless') return against === undefined ? [point] : []
    if (against === undefined) return []
    if (operator === 'and') return [point]
    if (compare) return compare(point.value, against) ? [point] : []
    if (arithmetic) return [{ ...point, value: arithmetic(point.value, against) }]
    throw new Error(`${operator} is not evaluated`)
  })
}

function isSame(a: Point['labels'], b: Point['labels'], on: Operation['on']): boolean {
  const names = on ?? [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return names.every((name) => (a[name] ?? '') === (b[name] ?? ''))
}

/** An alert of the manifest. */
export interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels?: Readonly<Record<string, string>>
}

const EVALUATED_EACH_SECONDS = 30

/** Labels of the series for which an alert fires, at a time in seconds or `ever` until then. */
export interface Firing {
  readonly now: readonly Record<string, string>[]
  readonly ever: readonly Record<string, string>[]
}

const read = (all: Iterable<string>) => [...all].map((labels) => JSON.parse(labels) as Record<string, string>)

/** Evaluates an alert until a time: it fires when its condition has held for its duration. */
export function firing({ expr, for: patience = '0m' }: Rule, scrapes: Scrapes, until: number): Firing {
  const needed = Number(patience.replace('m', '')) * UNIT_SECONDS['m']!
  const since = new Map<string, number>()
  const names = new Set<string>()
  const isLong = (labels: string, at: number) => at - since.get(labels)! >= needed
  for (let at = 0; at <= until; at += EVALUATED_EACH_SECONDS) {
    const now = new Set(evaluate(expr, scrapes, at).map(({ labels }) => JSON.stringify(labels)))
    for (const labels of since.keys()) if (!now.has(labels)) since.delete(labels)
    for (const labels of now) {
      if (!since.has(labels)) since.set(labels, at)
      if (isLong(labels, at)) names.add(labels)
    }
  }
  const last = until - (until % EVALUATED_EACH_SECONDS)
  return { now: read([...since.keys()].filter((labels) => isLong(labels, last))), ever: read(names) }
}

/** Labels of the series for which an alert fires until a time in seconds. */
export function firedBy(rule: Rule, scrapes: Scrapes, until: number): Record<string, string>[] {
  return [...firing(rule, scrapes, until).ever]
}
