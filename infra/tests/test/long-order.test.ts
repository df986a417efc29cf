import { expect, test } from 'vitest'
import { orderOf, type Candidate } from '../src/long-order.ts'

const DAYS = Array.from({ length: 10 }, (_, day) => 20_784 + day)

function candidate(title: string, more: Partial<Candidate> = {}): Candidate {
  return { title, isTouched: false, changedLines: 0, dependsOnChanged: false, isAlone: false, ...more }
}

test('every suite runs within ten days whatever the budget is, and once', () => {
  const suites = Array.from({ length: 47 }, (_, index) => candidate(`packages/a: ${index}`, { changedLines: 1 }))
  const due = DAYS.flatMap((day) => orderOf(suites, { owed: [], day, seed: day }).filter(({ isDue }) => isDue))
  expect(due.map(({ suite }) => suite.title).toSorted()).toEqual(suites.map(({ title }) => title).toSorted())
})

test('edited suites come first, then what is owed, changed packages by their lines, dependents and others', () => {
  const suites = [
    candidate('other'),
    candidate('dependent', { dependsOnChanged: true }),
    candidate('little', { changedLines: 2 }),
    candidate('much', { changedLines: 900 }),
    candidate('owed since today'),
    candidate('owed for long', { isAlone: true }),
    candidate('edited', { isTouched: true }),
  ]
  const owed = ['owed for long', 'owed since today']
  // A day with an empty share: with seven suites, three of the days have none.
  const day = DAYS.find((each) => orderOf(suites, { owed, day: each, seed: 1 }).every(({ isDue }) => !isDue))!
  expect(orderOf(suites, { owed, day, seed: 1 }).map(({ suite }) => suite.title)).toEqual([
    'edited',
    'owed for long',
    'owed since today',
    'much',
    'little',
    'dependent',
    'other',
  ])
})

test('suites that run alone come together, first on some days and last on others', () => {
  const suites = Array.from({ length: 20 }, (_, index) => candidate(`${index}`, { isAlone: index < 5 }))
  const firsts = DAYS.map((seed) => {
    const others = orderOf(suites, { owed: [], day: 0, seed }).filter(({ rank }) => rank === 5)
    const alone = others.map(({ suite }) => suite.isAlone)
    expect(alone.filter((isAlone, index) => index > 0 && isAlone !== alone[index - 1])).toHaveLength(1)
    return alone[0]
  })
  expect(new Set(firsts).size).toBe(2)
})
