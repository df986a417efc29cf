import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../../..')
const monitoring = join(root, 'infra/kubernetes/components/monitoring')

/** Labels that Prometheus and the registry add. */
const COMMON = ['app', 'job', 'instance', 'le']

/** Metrics of the apps and their labels, as their sources and Node's own collectors define them. */
const known = new Map<string, string[]>()
for (const pattern of ['apps/*/src/**/*.ts', 'packages/service/src/**/*.ts']) {
  for (const path of globSync(pattern, { cwd: root })) {
    if (path.endsWith('.test.ts')) continue
    const source = readFileSync(join(root, path), 'utf8')
    if (!/\b(Counter|Gauge|Histogram)\b/.test(source)) continue
    const lists = new Map(
      [...source.matchAll(/const (\w+) = (\[[^\]]+\]) as const/g)].map(([, name, list]) => [name, list]),
    )
    const definition = /'((?:terrane|routing|http)_[a-z_]+)',(?:\s*help: [^\n]+,\n\s*labelNames: ([^\n]+),\n)?/g
    for (const [, name, labels = ''] of source.matchAll(definition)) {
      const spelled = labels.replace(/\.\.\.(\w+)|^(\w+)$/, (_, a: string, b: string) => lists.get(a ?? b) ?? '')
      known.set(
        name!,
        [...spelled.matchAll(/'(\w+)'/g)].map((match) => match[1]!),
      )
    }
  }
}
const OF_NODE = new Set([
  // Metric of Prometheus itself: whether a target answered.
  'up',
  'nodejs_eventloop_lag_p99_seconds',
  'process_cpu_seconds_total',
  'process_max_fds',
  'process_open_fds',
  'process_resident_memory_bytes',
])

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string }
}

const { spec } = parse(readFileSync(join(monitoring, 'alerts.yaml'), 'utf8')) as {
  spec: { groups: { rules: Rule[] }[] }
}
const rules = spec.groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(readFileSync(join(monitoring, 'dashboard.json'), 'utf8')) as {
  panels: { title: string; targets: { expr: string }[] }[]
}
const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
]

test('the sources define metrics with labels', () => {
  expect(known.get('terrane_jobs')).toEqual(['task', 'state'])
  expect(known.get('terrane_function_exits_total')).toEqual(['project', 'function', 'reason'])
  expect(known.get('http_request_duration_seconds')).toEqual(['method', 'route', 'status'])
  expect(known.has('routing_waiting_requests')).toBe(true)
})

test.each(expressions)('%s asks for metrics and labels that there are', (_, expr) => {
  const { metrics, labels, errors } = read(expr.replaceAll('$__rate_interval', '5m'))
  expect(errors).toEqual([])
  expect(metrics.length).toBeGreaterThan(0)
  const bases = metrics.map((name) => name.replace(/_(bucket|count|sum)$/, ''))
  expect(bases.filter((name) => !known.has(name) && !OF_NODE.has(name))).toEqual([])
  const offered = new Set([...COMMON, ...bases.flatMap((name) => known.get(name) ?? [])])
  expect(labels.filter((label) => !offered.has(label))).toEqual([])
})

test('what an alert tells is there to be told', () => {
  for (const { alert, expr, annotations } of rules) {
    const { metrics } = read(expr)
    const offered = new Set([...COMMON, ...metrics.flatMap((name) => known.get(name) ?? [])])
    for (const [, label] of annotations.summary.matchAll(/\$labels\.(\w+)/g)) expect(offered, alert).toContain(label)
  }
})

test('every alert has a row of what to do', () => {
  const page = readFileSync(join(root, 'docs/operations.md'), 'utf8').split('\n## When an alert fires\n')[1]!
  const [section] = page.split('\n## ') as [string]
  const described = [...section.matchAll(/^\| `(Terrane\w+)` \|/gm)].map((match) => match[1]!)
  expect(described.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
})

/** Metrics and labels that a PromQL expression uses, and its syntax errors. */
function read(expr: string): { metrics: string[]; labels: string[]; errors: string[] } {
  const found = { metrics: [] as string[], labels: [] as string[], errors: [] as string[] }
  parser.parse(expr).iterate({
    enter: (node) => {
      const text = expr.slice(node.from, node.to)
      if (node.type.isError) found.errors.push(`${node.from}: ${text}`)
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector') found.metrics.push(text)
      if (node.name === 'LabelName') found.labels.push(text)
    },
  })
  return found
}
