import { Counter, Gauge, Histogram, onScrape, type Registry } from '@terrane/service'
import type { FunctionVersion } from '../function-version.ts'
import type { Functions } from '../functions.ts'
import type { Capacity } from '../pool/capacity.ts'
import type { Spares } from '../pool/spares.ts'
import type { Exit } from '../pool/exit.ts'
import { DURATION_BOUNDS, CallTally, type CallOutcome } from './call-tally.ts'
import type { Minute } from './minute-ring.ts'

/** The Prometheus metrics of the functions host. */
export class FunctionMetrics {
  readonly #tallies = new Map<string, Map<string, CallTally>>()
  readonly #starts: Histogram
  readonly #exits: Counter
  readonly #bootFailures: Counter
  readonly #lostLines: Counter

  constructor(registry: Registry) {
    const registers = [registry]
    const fn = ['project', 'function'] as const
    const calls = new Counter({
      name: 'terrane_function_calls_total',
      help: 'Calls by status; code is empty when the function itself answered.',
      labelNames: [...fn, 'status', 'code'],
      registers,
      collect: () => {
        calls.reset()
        for (const tally of this.#all())
          for (const { status, problem, count } of tally.outcomes())
            calls.inc({ project: tally.project, function: tally.name, status, code: problem }, count)
      },
    })
    registry.registerMetric(new CallDurations(() => this.#all()))
    this.#starts = new Histogram({
      name: 'terrane_function_start_seconds',
      help: 'From the decision to start an instance until it answers.',
      labelNames: fn,
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    })
    this.#exits = new Counter({
      name: 'terrane_function_exits_total',
      help: 'Instances that ended, by reason.',
      labelNames: [...fn, 'reason'],
      registers,
    })
    this.#bootFailures = new Counter({
      name: 'terrane_function_boot_failures_total',
      help: 'Instances that did not start.',
      labelNames: fn,
      registers,
    })
    this.#lostLines = new Counter({
      name: 'terrane_function_log_lines_lost_total',
      help: 'Log lines over the rate.',
      labelNames: fn,
      registers,
    })
    this.#registry = registry
  }
  readonly #registry: Registry

  /** Adds the gauges, which read the state of functions when metrics are requested. */
  watch(functions: Functions, capacity: Capacity, spares: Pick<Spares, 'pids'>): void {
    const registers = [this.#registry]
    const instances = new Gauge({
      name: 'terrane_function_instances',
      help: 'Instances that are ready.',
      labelNames: ['project', 'function'],
      registers,
    })
    const inflight = new Gauge({ name: 'terrane_function_calls_inflight', help: 'Calls in instances now.', registers })
    const queued = new Gauge({ name: 'terrane_function_calls_queued', help: 'Calls that wait for one.', registers })
    const used = new Gauge({ name: 'terrane_function_processes', help: 'Processes, starting ones too.', registers })
    const ready = new Gauge({
      name: 'terrane_function_spares',
      help: 'Processes without code that wait for a cold start; not among the processes.',
      registers,
    })
    const unbuilt = new Gauge({
      name: 'terrane_function_unbuilt',
      help: 'Functions whose newest code is not served, by reason: imports could not be fetched, or the code itself.',
      labelNames: ['project', 'function', 'reason'],
      registers,
    })
    onScrape(unbuilt, () => {
      unbuilt.reset()
      for (const { project, name, isFetch } of functions.failing())
        unbuilt.set({ project, function: name, reason: isFetch ? 'imports' : 'code' }, 1)
    })
    onScrape(instances, () => {
      instances.reset()
      let calls = 0
      let waiting = 0
      for (const { version, pool } of functions) {
        instances.set({ project: version.project, function: version.name }, pool.size)
        waiting += pool.queued
        for (const instance of pool) calls += instance.inflight
      }
      inflight.set(calls)
      queued.set(waiting)
      used.set(capacity.used)
      ready.set(spares.pids.length)
    })
  }

  called({ project, name }: FunctionVersion, outcome: CallOutcome): void {
    this.#tally(project, name).add(outcome)
  }

  /** Counts CPU seconds of an instance, and its memory. */
  used({ project, name }: FunctionVersion, cpuSeconds: number, memoryMb: number): void {
    this.#tally(project, name).minutes.use(cpuSeconds, memoryMb)
  }

  /** The last 60 minutes of a function, oldest first. */
  minutesOf(project: string, name: string): Minute[] {
    return this.#tallies.get(project)?.get(name)?.minutes.read() ?? []
  }

  #tally(project: string, name: string): CallTally {
    let tallies = this.#tallies.get(project)
    if (!tallies) this.#tallies.set(project, (tallies = new Map()))
    let tally = tallies.get(name)
    if (!tally) tallies.set(name, (tally = new CallTally(project, name)))
    return tally
  }

  *#all(): Generator<CallTally> {
    for (const tallies of this.#tallies.values()) yield* tallies.values()
  }

  started({ project, name }: FunctionVersion, ms: number): void {
    this.#starts.observe({ project, function: name }, ms / 1000)
  }

  exited({ project, name }: FunctionVersion, { reason }: Exit): void {
    this.#exits.inc({ project, function: name, reason })
  }

  bootFailed({ project, name }: FunctionVersion): void {
    this.#bootFailures.inc({ project, function: name })
  }

  linesLost({ project, name }: FunctionVersion, count: number): void {
    this.#lostLines.inc({ project, function: name }, count)
  }
}

/** The histogram of the durations of calls. */
const DURATION = {
  name: 'terrane_function_call_seconds',
  help: 'From the arrival of a call to the last byte of its answer.',
  labelNames: ['project', 'function'] as const,
}

/** The histogram of durations, made from the tallies when it is read. */
class CallDurations extends Histogram<'project' | 'function'> {
  readonly #tallies: () => Iterable<CallTally>

  constructor(tallies: () => Iterable<CallTally>) {
    super({
      ...DURATION,
      buckets: DURATION_BOUNDS,
      registers: [],
    })
    this.#tallies = tallies
  }

  /** The method by which prom-client's registry reads the metric. */
  async getForPromString() {
    const values = Array.from(this.#tallies(), (tally) => this.#valuesOf(tally)).flat()
    return { name: DURATION.name, help: DURATION.help, type: 'histogram', aggregator: 'sum', values }
  }

  #valuesOf({ project, name, buckets, seconds }: CallTally) {
    const own = { project, function: name }
    const value = (suffix: string, amount: number, le?: string) => ({
      metricName: `${DURATION.name}_${suffix}`,
      labels: le === undefined ? own : { le, ...own },
      value: amount,
    })
    let count = 0
    const counts = Array.from(buckets, (calls, at) => {
      count += calls
      return value('bucket', count, at < DURATION_BOUNDS.length ? String(DURATION_BOUNDS[at]) : '+Inf')
    })
    return [...counts, value('sum', seconds), value('count', count)]
  }
}
