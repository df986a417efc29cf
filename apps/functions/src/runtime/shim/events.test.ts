import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { GRACE_MS } from '../../pool/instance.ts'
import { GlobalEvents, type EventScope } from './events.ts'

/** Events of a program that listens to `beforeunload`. */
function listening(onUnload: (events: GlobalEvents) => void): GlobalEvents {
  const scope = new EventTarget()
  const events = new GlobalEvents(scope as EventScope, () => {})
  scope.addEventListener('beforeunload', () => onUnload(events))
  return events
}

test('work that a program holds while its instance goes on is not kept in memory', async () => {
  setFlagsFromString('--expose-gc')
  onTestFinished(() => setFlagsFromString('--no-expose-gc'))
  const collect = runInNewContext('gc') as () => void
  const events = listening(() => {})
  const held = (() => {
    const work = Promise.resolve()
    events.hold(work)
    return new WeakRef(work)
  })()
  const isKept = () => {
    collect()
    return held.deref() !== undefined
  }
  await expect.poll(isKept).toBe(false)
})

test('an instance ends after the work that its end began, and after the work that this began', async () => {
  const done: string[] = []
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const events = listening((at) => {
    const second = async () => {
      await turn()
      done.push('second')
    }
    const first = async () => {
      await turn()
      done.push('first')
      at.hold(second())
    }
    at.hold(first())
  })
  await events.unload('early_drop')
  expect(done).toEqual(['first', 'second'])
})

test('a program that holds nothing ends by itself before the host ends it', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let isOver = false
  const ending = listening(() => {})
    .unload('termination')
    .then(() => (isOver = true))
  await vi.advanceTimersByTimeAsync(GRACE_MS - 1)
  expect(isOver).toBe(true)
  await ending
})
