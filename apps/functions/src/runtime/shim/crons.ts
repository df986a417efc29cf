import { methodOf, type Context, type Method } from './handler.ts'

/** A time of a cron expression, as the platform sends it. */
interface Tick {
  /** Empty for an expression without a name. */
  readonly name: string
  readonly cron: string
  readonly scheduledTime: number
}

const NAME = /^[\w -]{1,64}$/
const PARTS = ['minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const

/** Scheduled handlers of a function: of `Deno.cron`, and `scheduled` of Workers. */
export class Crons {
  readonly #handlers = new Map<string, () => unknown>()
  /** `name: expression`, as a policy has them. */
  readonly entries: string[] = []
  #scheduled: Method | null = null
  #isSealed = false

  get isEmpty(): boolean {
    return this.entries.length === 0 && this.#scheduled === null
  }

  /** `Deno.cron(name, schedule, handler)` or `Deno.cron(name, schedule, options, handler)`. */
  readonly add = (name: unknown, schedule: unknown, ...rest: readonly unknown[]): Promise<void> => {
    const handler = rest.find((value) => typeof value === 'function') as (() => unknown) | undefined
    if (this.#isSealed) throw new Error('Deno.cron can only be called while the function starts')
    if (typeof name !== 'string' || !NAME.test(name))
      throw new TypeError(`Deno.cron: the name '${String(name)}' is not one`)
    if (!handler) throw new TypeError('Deno.cron: the last argument has to be a function')
    if (this.#handlers.has(name)) throw new TypeError(`Deno.cron: there is a cron '${name}' already`)
    this.#handlers.set(name, handler)
    this.entries.push(`${name}: ${expressionOf(schedule)}`)
    return Promise.resolve()
  }

  /** Takes `scheduled` of a module's default export; later registrations are refused. */
  seal(exported: unknown): void {
    this.#isSealed = true
    this.#scheduled = methodOf(exported, 'scheduled')
  }

  /**
   * Runs the function's handler for a cron time; false without one, so that the time is answered as a request.
   *
   * @param header as the host sends it
   * @param texts cron expressions as the function wrote them, by the platform's spelling
   */
  async run(
    header: string,
    texts: Readonly<Record<string, string>>,
    env: Readonly<Record<string, unknown>>,
    context: Context,
  ): Promise<boolean> {
    const tick = JSON.parse(decodeURIComponent(header)) as Tick
    const handler = this.#handlers.get(tick.name)
    if (!handler && !this.#scheduled) return false
    const { scheduledTime } = tick
    const cron = texts[tick.cron] ?? tick.cron
    await (handler
      ? handler()
      : this.#scheduled!({ type: 'scheduled', cron, scheduledTime, noRetry() {} }, env, context))
    return true
  }
}

/** The text of a schedule, which may be an object such as `{ minute: { every: 5 } }`. */
function expressionOf(schedule: unknown): string {
  if (typeof schedule === 'string') return schedule.trim().split(/\s+/).join(' ')
  if (schedule === null || typeof schedule !== 'object')
    throw new TypeError('Deno.cron: the schedule is a text or an object')
  const given = schedule as Record<string, unknown>
  return PARTS.map((part) => partOf(given[part])).join(' ')
}

function partOf(value: unknown): string {
  if (value === undefined) return '*'
  if (typeof value === 'number') return String(value)
  const { exact, start, end, every } = value as Record<
    'exact' | 'start' | 'end' | 'every',
    number | number[] | undefined
  >
  if (exact !== undefined) return [exact].flat().join(',')
  const range = start === undefined ? '*' : end === undefined ? String(start) : `${String(start)}-${String(end)}`
  return every === undefined ? range : `${range}/${String(every)}`
}
