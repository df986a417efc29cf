import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Capacity } from './capacity.ts'
import { BootFailure, type Exit, type ExitReason } from './exit.ts'
import type { Instance } from './instance.ts'
import { Pool } from './pool.ts'
import type { Refusal, Waiter } from './waiter.ts'

/** A fake process: ready on request, dead when killed. */
class FakeInstance {
  inflight = 0
  usedAt = performance.now()
  retiring = false
  accepting = true
  window = 64
  busy = false
  probes = 0
  onPong = () => {}
  readonly #ended = Promise.withResolvers<Exit>()
  readonly #booted = Promise.withResolvers<void>()
  readonly exited = this.#ended.promise
  readonly ready = this.#booted.promise

  constructor(ready: Promise<void>) {
    ready.then(this.#booted.resolve, this.#booted.reject)
  }
  get working() {
    return this.inflight > 0
  }
  check() {}
  probe() {
    this.probes++
  }
  exitReason: ExitReason | null = null
  isKilled = false
  /** Whether it takes time to end when it is dismissed. */
  lingers = false
  dismiss(reason: ExitReason) {
    if (!this.lingers) return this.kill(reason)
    this.accepting = false
    this.exitReason = reason
  }
  kill(reason: ExitReason) {
    this.accepting = false
    this.isKilled = true
    this.exitReason ??= reason
    this.#booted.reject(new BootFailure('it ended while starting', ''))
    this.#ended.resolve({ reason, code: null, signal: 'SIGKILL', stderr: '' })
  }
}

function makePool(options: {
  max?: number
  min?: number
  idleMs?: number
  capacity?: Capacity
  boots?: (n: number) => Promise<void>
  isUnstartable?: boolean
}) {
  const made: FakeInstance[] = []
  const bootFailures: BootFailure[] = []
  const pool = new Pool({
    concurrency: 2,
    min: options.min ?? 0,
    max: options.max ?? 2,
    idleMs: options.idleMs ?? 60_000,
    capacity: options.capacity ?? new Capacity(10),
    start: async () => {
      if (options.isUnstartable) throw new Error('no process')
      const instance = new FakeInstance(options.boots?.(made.length) ?? Promise.resolve())
      made.push(instance)
      return instance as unknown as Instance
    },
    events: { started() {}, bootFailed: (failure) => bootFailures.push(failure), exited() {} },
  })
  const ask = (deadline = Number.POSITIVE_INFINITY) => {
    const outcome = { instance: null as FakeInstance | null, refusal: null as Refusal | null }
    const waiter: Waiter = {
      deadline,
      granted(instance) {
        outcome.instance = instance as unknown as FakeInstance
        outcome.instance.inflight++
      },
      refused: (refusal) => (outcome.refusal = refusal),
    }
    return { outcome, leave: pool.acquire(waiter) }
  }
  const release = (instance: FakeInstance, served = true) => {
    instance.inflight--
    instance.usedAt = performance.now()
    pool.released(served)
  }
  return { pool, made, bootFailures, ask, release }
}
const settle = () => sleep(1)

test('requests share an instance up to its concurrency, then a second one starts, then they wait', async () => {
  const { made, ask, release } = makePool({})
  const asked = Array.from({ length: 6 }, () => ask().outcome)
  await settle()
  expect(made.length).toBe(2)
  expect(asked.map((each) => each.instance !== null)).toEqual([true, true, true, true, false, false])
  release(made[1]!)
  expect(asked[4]!.instance).toBe(made[1])
  release(made[0]!)
  expect(asked[5]!.instance).toBe(made[0])
})

test('the least loaded instance is chosen, at once', async () => {
  const { made, ask, release } = makePool({})
  for (let i = 0; i < 3; i++) ask()
  await settle()
  release(made[0]!)
  release(made[0]!)
  expect(ask().outcome.instance).toBe(made[0])
})

test('one that leaves the queue is not served', async () => {
  const { made, ask } = makePool({ max: 1, boots: () => sleep(20) })
  const first = ask()
  first.leave()
  await sleep(40)
  expect([made.length, first.outcome.instance, first.outcome.refusal]).toEqual([1, null, null])
})

test('a queue has an end', async () => {
  const { ask } = makePool({ max: 1, boots: () => new Promise(() => {}) })
  const asked = Array.from({ length: 257 }, () => ask().outcome)
  expect(asked[256]!.refusal).toEqual({ why: 'busy', retryMs: 1000 })
  expect(asked[255]!.refusal).toBeNull()
})

test('a request waits until its own deadline, whatever the queue before it, and is then refused with 503', async () => {
  const { pool, ask } = makePool({ max: 1 })
  for (let i = 0; i < 2; i++) ask()
  await settle()
  const now = performance.now()
  const [patient, hasty] = [ask(now + 60_000).outcome, ask(now + 5000).outcome]
  pool.check(now + 4000, 0)
  expect([patient.refusal, hasty.refusal]).toEqual([null, null])
  pool.check(now + 20_000, 0)
  expect([patient.refusal, hasty.refusal]).toEqual([null, { why: 'busy', retryMs: 1000 }])
  pool.check(now + 60_001, 0)
  expect(patient.refusal).toMatchObject({ why: 'busy' })
})

test('a request whose time is over before an instance has started is late', async () => {
  const { pool, ask } = makePool({ boots: () => new Promise(() => {}) })
  const now = performance.now()
  const { outcome } = ask(now + 300)
  pool.check(now + 301, 0)
  expect(outcome.refusal).toMatchObject({ why: 'late' })
})

test('an instance gets more calls as its event loop answers', async () => {
  const { made, ask } = makePool({ max: 1 })
  ask()
  await settle()
  made[0]!.window = 1
  const second = ask().outcome
  expect([second.instance, made[0]!.probes]).toEqual([null, 1])
  made[0]!.window = 2
  made[0]!.onPong()
  expect(second.instance).toBe(made[0])
})

test('another instance starts below "concurrency" when the event loop is busy, and not before that is known', async () => {
  const { made, ask } = makePool({})
  ask()
  await settle()
  made[0]!.window = 1
  const second = ask().outcome
  await settle()
  expect([made.length, second.instance]).toEqual([1, null])
  made[0]!.busy = true
  made[0]!.onPong()
  await settle()
  expect(made.length).toBe(2)
  expect(second.instance).toBe(made[1])
})

test('a start that fails refuses waiting calls; the next may try at once, the one after has to wait', async () => {
  const { made, ask } = makePool({ boots: () => Promise.reject(new BootFailure('no', '')) })
  const first = ask().outcome
  await settle()
  expect(first.refusal).toMatchObject({ why: 'boot' })
  const second = ask().outcome
  await settle()
  expect(second.refusal).toMatchObject({ why: 'boot', retryMs: expect.any(Number) as number })
  const third = ask().outcome
  expect(third.refusal).toMatchObject({ why: 'boot' })
  expect(made.length).toBe(2)
})

test('an instance that dies is replaced for the next request; one that dies again and again is not, for a while', async () => {
  const { made, ask } = makePool({ max: 1 })
  for (let i = 0; i < 2; i++) {
    const { outcome } = ask()
    await settle()
    expect(outcome.instance).toBe(made[i])
    made[i]!.inflight = 0
    made[i]!.kill('crashed')
    await settle()
  }
  expect(ask().outcome.refusal).toMatchObject({ why: 'busy' })
  expect(made.length).toBe(2)
})

test('an instance that finishes its last calls is replaced meanwhile', async () => {
  const { made, pool, ask, release } = makePool({ max: 1 })
  ask()
  await settle()
  made[0]!.retiring = true
  made[0]!.accepting = false
  const next = ask().outcome
  await settle()
  expect([made.length, next.instance]).toEqual([2, made[1]])
  expect(made[0]!.exitReason).toBeNull()
  release(made[0]!)
  pool.check(performance.now(), 0)
  expect([made[0]!.exitReason, made[1]!.exitReason]).toEqual(['replaced', null])
})

test('idle instances end, but not below the minimum', async () => {
  const { pool, made, ask, release } = makePool({ min: 1, idleMs: 50 })
  for (let i = 0; i < 3; i++) ask()
  await settle()
  for (const instance of made) while (instance.inflight > 0) release(instance)
  pool.check(performance.now() + 100, 0)
  await settle()
  expect(made.filter((instance) => instance.accepting).length).toBe(1)
})

test('a retired pool finishes what it has and then is empty', async () => {
  const { pool, made, ask, release } = makePool({})
  ask()
  await settle()
  let empty = false
  void pool.empty.then(() => (empty = true))
  pool.retire()
  await settle()
  expect([empty, made[0]!.accepting]).toEqual([false, true])
  release(made[0]!)
  await settle()
  expect([empty, made[0]!.accepting]).toEqual([true, false])
})

/** Whether a pool becomes empty without calls of `check`, which a stopping host no longer makes. */
async function isEmptied(pool: Pool): Promise<boolean> {
  return Promise.race([pool.empty.then(() => true), sleep(10_000, undefined, { ref: false }).then(() => false)])
}

test('a pool that is stopped while an instance starts ends it and is empty, whatever comes first', async () => {
  for (const hasProcess of [true, false]) {
    const { pool, made, bootFailures, ask } = makePool({ boots: () => new Promise(() => {}) })
    const { outcome } = ask()
    if (hasProcess) await settle()
    pool.stop()
    expect(outcome.refusal).toMatchObject({ why: 'busy' })
    expect(await isEmptied(pool)).toBe(true)
    expect([made[0]!.exitReason, bootFailures.length]).toEqual(['stopped', 0])
  }
})

test('a pool that is stopped at the moment an instance becomes ready is empty', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { pool, made, ask } = makePool({ boots: () => promise })
  ask()
  await settle()
  resolve()
  pool.stop()
  expect(await isEmptied(pool)).toBe(true)
  expect(made[0]!.isKilled).toBe(true)
})

test('a pool that is stopped while a start is about to fail is empty', async () => {
  const { pool, ask } = makePool({ isUnstartable: true })
  ask()
  pool.stop()
  expect(await isEmptied(pool)).toBe(true)
})

test('a stopped pool refuses a call that comes again because its instance was ended, and starts nothing', async () => {
  const { pool, made, ask } = makePool({})
  ask()
  await settle()
  pool.stop()
  expect(ask().outcome.refusal).toMatchObject({ why: 'busy' })
  made[0]!.inflight = 0
  expect(await isEmptied(pool)).toBe(true)
  expect(made.length).toBe(1)
})

test('a retired pool that waits only for a start is empty after it', async () => {
  for (const boots of [() => sleep(5), () => sleep(5).then(() => Promise.reject(new BootFailure('no', '')))]) {
    const { pool, ask } = makePool({ boots })
    const { leave } = ask()
    await settle()
    leave()
    pool.retire()
    pool.check(performance.now(), 0)
    expect(await isEmptied(pool)).toBe(true)
  }
})

test('a full host ends the instance that has been idle longest, wherever it is', async () => {
  const capacity = new Capacity(2)
  const [a, b, c] = [makePool({ capacity }), makePool({ capacity }), makePool({ capacity })]
  for (const each of [a, b]) {
    each.ask()
    await settle()
  }
  const waiting = c.ask().outcome
  await settle()
  expect(waiting.instance).toBeNull()
  b.release(b.made[0]!)
  a.release(a.made[0]!)
  c.pool.check(performance.now(), 0)
  await settle()
  expect([a.made[0]!.accepting, b.made[0]!.accepting, waiting.instance !== null]).toEqual([true, false, true])
  expect(capacity.used).toBe(2)
})

test('an instance that is told to end gives its place on the host before an idle one does, and gives it once', async () => {
  const capacity = new Capacity(2)
  const idle = makePool({ capacity })
  const ending = makePool({ capacity, idleMs: 0 })
  for (const { ask, release, made } of [idle, ending]) {
    ask()
    await settle()
    release(made[0]!)
  }
  const [leaving] = ending.made
  leaving!.lingers = true
  ending.pool.check(performance.now() + 1, 0)
  expect([leaving!.exitReason, leaving!.isKilled, capacity.used]).toEqual(['idle', false, 2])
  const wanting = makePool({ capacity })
  const { outcome } = wanting.ask()
  expect([leaving!.isKilled, idle.made[0]!.isKilled]).toEqual([true, false])
  await settle()
  expect([outcome.instance, capacity.used]).toEqual([wanting.made[0], 2])
})

test('two requests for a place are not given that of the same instance', async () => {
  const capacity = new Capacity(2)
  const { ask, release, made } = makePool({ capacity })
  const asked = Array.from({ length: 3 }, () => ask().outcome)
  await settle()
  for (const { instance } of asked) release(instance!)
  expect([capacity.take(), capacity.take(), capacity.take()]).toEqual([true, true, false])
  expect(made.map(({ isKilled }) => isKilled)).toEqual([true, true])
  await settle()
  expect(capacity.used).toBe(2)
})
