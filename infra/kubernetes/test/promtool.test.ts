// Slow: each fault is evaluated by another program and by our evaluator.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { shippedRules } from './support/alerts.ts'
import { firing } from './support/evaluate.ts'
import { CALM_SECONDS, END, FAULTS, STEP } from './support/faults.ts'

/** Prometheus' own evaluator of rules; on PATH, or where PROMTOOL says. */
// oxlint-disable-next-line node/no-process-env -- Where an optional program lies.
const promtool = process.env['PROMTOOL'] ?? 'promtool'
const isThere = spawnSync(promtool, ['--version']).status === 0
const folder = mkdtempSync(join(tmpdir(), 'terrane-promtool-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Before the fault, in it and at its end, when what happened once is past. */
const TIMES = [CALM_SECONDS - STEP, CALM_SECONDS + 300, CALM_SECONDS + 1500, END]

const rules = shippedRules()
const ruleFile = join(folder, 'rules.yaml')
// Texts of alerts are not compared.
const bare = [...rules.values()].map((rule) => ({ ...rule, annotations: undefined }))
writeFileSync(ruleFile, stringify({ groups: [{ name: 'terrane', rules: bare }] }))

test.skipIf(isThere)('SKIPPED: no promtool (PROMTOOL; package prometheus in Debian)', () => {
  expect(isThere).toBe(false)
})

test.runIf(isThere)('the shipped rules are valid', () => {
  expect(execFileSync(promtool, ['check', 'rules', ruleFile]).toString()).toContain(`${rules.size} rules found`)
})

test.runIf(isThere).each(Object.entries(FAULTS))(
  'promtool fires the same alerts during %s',
  { timeout: 60_000 },
  (fault, { scrapes }) => {
    const inputs = Object.entries(scrapes).flatMap(([name, series]) =>
      series.map(({ labels, samples }) => ({
        series: `${name}{${Object.entries(labels)
          .map(([label, text]) => `${label}="${text}"`)
          .join(',')}}`,
        values: samples.map(([, value]) => value).join(' '),
      })),
    )
    const expected = TIMES.flatMap((at) =>
      [...rules].map(([alertname, rule]) => ({
        eval_time: `${at}s`,
        alertname,
        exp_alerts: firing(rule, scrapes, at).now.map((labels) => ({ exp_labels: { ...rule.labels, ...labels } })),
      })),
    )
    const path = join(folder, `${fault}.yaml`)
    writeFileSync(
      path,
      stringify({
        rule_files: [ruleFile],
        evaluation_interval: `${STEP}s`,
        tests: [{ interval: `${STEP}s`, input_series: inputs, alert_rule_test: expected }],
      }),
    )
    const { stdout, stderr } = spawnSync(promtool, ['test', 'rules', path], { encoding: 'utf8' })
    expect(`${stdout}${stderr}`).toContain('SUCCESS')
  },
)
