import { expect, test } from 'vitest'
import { LaneWatch } from './lane-watch.ts'

test('a lane without a job that has not looked for a minute is stuck; one at work is not', async () => {
  let now = 0
  const watch = new LaneWatch(() => now)
  const lanes = [watch.open('ogr2ogrImport'), watch.open('exportTable')] as const
  const { promise: job, resolve: end } = Promise.withResolvers<void>()
  const working = lanes[1].work(() => job)
  watch.check()
  now = 60_001
  expect(() => watch.check()).toThrow(
    expect.objectContaining({ code: 'WORKER_LANES_STUCK', message: expect.stringContaining('ogr2ogrImport') }),
  )
  expect(() => watch.check()).toThrow(expect.not.objectContaining({ message: expect.stringContaining('exportTable') }))
  lanes[0].looked()
  watch.check()
  end()
  await working
  now = 120_002
  expect(() => watch.check()).toThrow(/exportTable/)
})
