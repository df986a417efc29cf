import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Rule } from './evaluate.ts'

export { firedBy, type Rule, type Scrapes } from './evaluate.ts'

/** The alerts that are shipped, by their names. */
export function shippedRules(): ReadonlyMap<string, Rule> {
  const path = join(import.meta.dirname, '../../components/monitoring/alerts.yaml')
  const { spec } = parse(readFileSync(path, 'utf8')) as { spec: { groups: { rules: Rule[] }[] } }
  return new Map(spec.groups.flatMap((group) => group.rules).map((rule) => [rule.alert, rule]))
}
