import { expect, test } from 'vitest'
import { RunSteps } from './run-steps.ts'

const step = (phase: string, message = phase, done = 0) => ({ phase, message, done, total: 10, unit: 'tiles' })

test('each step of a run is one line, however often it reports', () => {
  const steps = new RunSteps()
  const told = [
    steps.line(step('download'), 0),
    steps.line(step('download', 'download', 5), 900),
    steps.line(step('embed', 'embedding tiles'), 1000),
    steps.line(step('embed', 'embedding the rest'), 2000),
    steps.line(step('embed', 'embedding the rest', 3), 61_999),
  ]
  expect(told.map((line) => line?.message)).toEqual([
    'download',
    undefined,
    'embedding tiles',
    'embedding the rest',
    undefined,
  ])
})

test('a message whose counts rise is one step', () => {
  const steps = new RunSteps()
  expect(steps.line(step('import', '10 rows'), 0)).toMatchObject({ message: '10 rows' })
  expect(steps.line(step('import', '99 rows'), 1000)).toBeNull()
  expect(steps.line(step('import', '1000 rows'), 2000)).toBeNull()
  expect(steps.line(step('import', '1000 roads'), 3000)).not.toBeNull()
})

test('a step that goes on for a minute says how far it is', () => {
  const steps = new RunSteps()
  steps.line(step('embed'), 0)
  expect(steps.line(step('embed', 'embed', 4), 60_000)).toMatchObject({ message: 'embed: 4 of 10 tiles' })
  expect(steps.line(step('embed', 'embed', 5), 60_001)).toBeNull()
})

test('the times of phases add up, also of one that comes back', () => {
  const steps = new RunSteps()
  steps.line(step('read'), 1000)
  steps.line(step('write'), 3000)
  steps.line(step('read'), 3500)
  expect(steps.times(4000)).toMatchObject({ event: 'times', message: 'read 2.5 s, write 0.5 s' })
  expect(new RunSteps().times(4000)).toBeNull()
})
