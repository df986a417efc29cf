import { lstatSync } from 'node:fs'
import type { Depth } from '../gateway/depth.ts'
import type { Command } from '../runtime/runtime.ts'
import type { Boot, ShimMessage } from '../runtime/shim/protocol.ts'
import { Upstream } from '../upstream/upstream.ts'
import { EventLoop } from './event-loop.ts'
import { BootFailure, exitReasonOf, type Exit, type ExitReason } from './exit.ts'
import { NEW_INSTANCE, SAMPLE_MS, checkHealth } from './health.ts'
import type { Meter, Usage } from './meter.ts'
import type { FunctionLine } from './output.ts'
import { ActiveCalls, type Call } from './active-calls.ts'
import type { RuntimeProcess } from './runtime-process.ts'

export interface InstanceOptions {
  readonly id: string
  readonly name: string
  readonly command: Command
  /** Process of the command, which has got no line yet. */
  readonly process: RuntimeProcess
  /** Ingress socket as the host sees it. */
  readonly ingress: string
  readonly env: Readonly<Record<string, string>>
  /** Bindings of `env` and the queue that the function consumes, from its policy. */
  readonly bindings: readonly string[]
  readonly queue: string
  /** Token that replaces the service key in `env`. */
  readonly serviceToken: string
  /** Age at which it is replaced without interrupting requests, because its keys end. */
  readonly renewMs: number
  readonly tmpMb: number
  /** `host` (port 443) and `host:port` that its sockets may reach. */
  readonly reach: readonly string[]
  readonly memoryMb: number
  readonly blockMs: number
  readonly timeoutMs: number
  readonly bootMs: number
  readonly meter: Meter
  /** Called with the CPU seconds since the previous call, and with the memory. */
  readonly onUsage: (cpuSeconds: number, memoryMb: number) => void
  /** @param requestId of the call that the line names, if the instance really has or just had it */
  readonly onLine: (line: FunctionLine, requestId: string | null) => void
}

const PING_AFTER_USE_MS = 1000
/** Time for a function's `beforeunload` handlers when its instance ends. */
export const GRACE_MS = 2000
/** One process and everything the host knows about it. */
export class Instance {
  readonly id: string
  readonly upstream: Upstream
  readonly serviceToken: string
  /** Settles when the function answers requests, or rejects with {@link BootFailure}. */
  readonly ready: Promise<void>
  readonly exited: Promise<Exit>
  /** Cron handlers reported at the start: `name: expression`. */
  crons: readonly string[] = []
  /** Time of the last use. */
  usedAt: number
  /** True when it accepts no more requests and ends when it has no work. */
  retiring = false
  /** True when it is being ended without grace. */
  isKilled = false
  /** Called after each answer to a ping. */
  onPong: () => void = ignore
  #alive = true
  readonly #options: InstanceOptions
  readonly #process: RuntimeProcess
  readonly #loop: EventLoop
  readonly #calls: ActiveCalls
  #reason: ExitReason | null = null
  #health = NEW_INSTANCE
  #cpuSeconds = 0
  readonly #renewAt: number
  readonly #booted = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<Exit>()

  constructor(options: InstanceOptions) {
    this.#options = options
    this.#calls = new ActiveCalls(options.timeoutMs)
    this.id = options.id
    this.serviceToken = options.serviceToken
    this.usedAt = performance.now()
    this.#renewAt = this.usedAt + options.renewMs
    this.upstream = new Upstream(options.ingress)
    this.ready = this.#booted.promise
    this.exited = this.#ended.promise
    this.ready.catch(() => {})
    this.#process = options.process
    this.#process.attach({
      message: (message) => this.#receive(message),
      line: (line) => options.onLine(line, this.#calls.requestIdOf(line.call)),
      gone: (code, signal, problem) => this.#gone(code, signal, problem),
    })
    this.#loop = new EventLoop((n) => this.#process.write(`ping ${n}`))
    this.#process.write(JSON.stringify(bootOf(options)))
    const timer = setTimeout(() => {
      this.#booted.reject(new BootFailure(`it was not ready within ${options.bootMs} ms`, this.#process.stderr))
      this.kill('boot_timeout')
    }, options.bootMs)
    this.ready.finally(() => clearTimeout(timer)).catch(() => {})
  }

  /** Process id of the runtime, as the host sees it. */
  get pid(): number {
    return this.#process.pid
  }

  /** Number of calls that it may have at once, as its event loop shows. */
  get window(): number {
    return this.#loop.window
  }

  /** True while its event loop computes instead of answering. */
  get busy(): boolean {
    return this.#loop.busy
  }

  /** Number of requests that it handles now. */
  get inflight(): number {
    return this.#calls.unanswered
  }

  /** True when it may be given another request. */
  get accepting(): boolean {
    return this.#alive && !this.retiring && this.#reason === null
  }

  /** Exit reason; null while the instance runs. */
  get exitReason(): ExitReason | null {
    return this.#reason
  }

  /** True while it has a request or background work. */
  get working(): boolean {
    return this.#calls.any
  }

  /** Depth of its deepest call in a chain of functions. */
  get depth(): Depth {
    return this.#calls.depth
  }

  /** The call that a project API request claims to come from, if this instance really has it. */
  call(id: string): Call | undefined {
    return this.#calls.get(id)
  }

  begin(call: Call): void {
    this.#calls.enter(call)
  }

  /** Extends the deadline of the call. */
  prolong(call: Call, until: number): void {
    this.#calls.prolong(call, until)
  }

  /** The call has ended. @param heldByAnswer whether its answer announced background work */
  end(call: Call, heldByAnswer: boolean): void {
    this.usedAt = performance.now()
    this.#calls.answer(call, heldByAnswer, this.usedAt)
  }

  /**
   * Asks the process to end, and kills it when it has not ended within its grace period. Only for an instance without
   * work.
   */
  dismiss(reason: 'idle' | 'replaced'): void {
    if (!this.#alive || this.#reason !== null) return
    this.#reason = reason
    this.#process.write(`end ${reason === 'idle' ? 'early_drop' : 'termination'}`)
    setTimeout(() => this.kill(reason), GRACE_MS).unref()
  }

  /** Ends the process at once. */
  kill(reason: ExitReason): void {
    if (!this.#alive) return
    this.isKilled = true
    this.#reason ??= reason
    this.upstream.close()
    this.#process.kill()
  }

  /** Ends an instance whose socket refuses connections: the function has closed its server, or is ending. */
  endUnreachable(): void {
    if (this.#process.isRunning) this.#process.stderr += '\nits server was closed while it could still be called'
    this.kill('crashed')
  }

  /**
   * The watchdog's check, about ten times a second.
   *
   * @param lateMs delay of this check caused by the host itself, which is not counted against the instance
   */
  check(now: number, lateMs: number): void {
    if (!this.#alive) return
    this.upstream.sweep(now)
    this.#calls.sweep(now)
    if (now > this.#renewAt) this.retiring = true
    const active = this.#calls.any || this.#health.busy || now - this.usedAt < PING_AFTER_USE_MS
    const isDue = active || this.#loop.isWaiting || now - this.#health.sampledAt >= SAMPLE_MS
    const usage = isDue ? this.#options.meter(this.pid) : null
    this.#loop.check(now, lateMs, usage)
    if (this.inflight === 0) this.#loop.window = 1
    if (this.#loop.stoodMs > this.#options.blockMs) this.kill('blocked')
    else if (active) this.probe()
    if (usage) this.#sample(usage, now)
  }

  /** Pings the event loop, unless a ping is unanswered. */
  probe(): void {
    this.#loop.probe()
  }

  #sample(usage: Usage, now: number): void {
    const { memoryMb, onUsage } = this.#options
    onUsage(usage.cpuSeconds - this.#cpuSeconds, usage.privateMb)
    this.#cpuSeconds = usage.cpuSeconds
    const { health, verdict } = checkHealth(this.#health, usage, { memoryMb, working: this.working, now })
    this.#health = health
    if (verdict === 'recycle') this.retiring = true
    else if (verdict !== 'fine') this.kill(verdict)
  }

  #receive(message: ShimMessage): void {
    switch (message.t) {
      case 'ready':
        this.crons = readCrons(message.crons)
        if (isSocket(this.#options.ingress)) this.#booted.resolve()
        else this.#booted.reject(new BootFailure('it listens on no socket', this.#process.stderr))
        break
      case 'failed':
        this.#booted.reject(new BootFailure(message.message, message.stack))
        break
      case 'pong':
        if (this.#loop.answer(message.n, this.inflight, () => this.#options.meter(this.pid))) this.onPong()
        break
      case 'hold':
      case 'release':
        this.#calls.hold(message.call, message.t === 'hold', performance.now())
        break
    }
  }

  #gone(code: number | null, signal: string | null, problem: string): void {
    if (!this.#alive) return
    this.#alive = false
    const stderr = this.#process.stderr + problem
    const reason = exitReasonOf(this.#reason, stderr)
    this.#booted.reject(new BootFailure(`it ended while starting (${signal ?? `exit code ${code}`})`, stderr))
    this.upstream.close()
    this.#ended.resolve({ reason, code, signal, stderr })
  }
}

/** The first line on the process's stdin: everything that the shim needs. */
function bootOf({ name, command, reach, env, bindings, queue, tmpMb }: InstanceOptions): Boot {
  return {
    name,
    bundle: command.bundle,
    ingress: command.ingress,
    gateway: command.gateway,
    sockets: { path: command.sockets, listed: reach },
    env,
    bindings,
    queue,
    tmp: { module: command.tmp, bytes: tmpMb * 1024 * 1024 },
  }
}

/** Crons as a process reports them; untrusted. */
function readCrons(said: unknown): readonly string[] {
  return Array.isArray(said) ? said.filter((entry): entry is string => typeof entry === 'string').slice(0, 50) : []
}

/** A symbolic link in place of the socket would redirect the host. */
function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true
}

function ignore(): void {}
