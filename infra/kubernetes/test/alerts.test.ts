import { describe, expect, test } from 'vitest'
import { firedBy, shippedRules } from './support/alerts.ts'
import { CALM_SECONDS, END, FAULTS, STEP } from './support/faults.ts'

const rules = shippedRules()

test('every alert has a fault here', () => {
  expect(Object.keys(FAULTS).toSorted()).toEqual([...rules.keys()].toSorted())
})

describe.each(Object.entries(FAULTS))('%s', (alert, { scrapes, names }) => {
  const rule = rules.get(alert)!
  test('stays silent for half an hour of calm', () => {
    expect(firedBy(rule, scrapes, CALM_SECONDS - STEP)).toEqual([])
  })
  test('fires during its fault and names it, and nothing else', () => {
    const found = firedBy(rule, scrapes, END)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatchObject(names)
  })
})

test('the fault of one dependency raises no alert of another', () => {
  for (const [fault, { scrapes }] of Object.entries(FAULTS)) {
    for (const [alert, rule] of rules) {
      if (alert === fault) continue
      expect(firedBy(rule, scrapes, END), `${alert} during ${fault}`).toEqual([])
    }
  }
})
