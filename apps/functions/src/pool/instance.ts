import { spawn, type ChildProcess } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import type { Command } from '../runtime/runtime.ts'
import { Upstream } from '../upstream/upstream.ts'
import type { Meter, Usage } from './meter.ts'
import { NEW_BORN, SAMPLE_MS, judge, stoodStill } from './health.ts'
import { Presences, type Call } from './presence.ts'
import { Output, type FunctionLine, type ShimMessage } from './output.ts'

/** Why an instance ended. The first three are limits, `crashed` is its own doing, the others are the host's will. */
export type ExitReason =
  | 'blocked'
  | 'memory'
  | 'idle_cpu'
  | 'crashed'
  | 'boot_timeout'
  | 'idle'
  | 'replaced'
  | 'stopped'

export interface Exit {
  readonly reason: ExitReason
  readonly code: number | null
  readonly signal: string | null
  /** Last part of its stderr output, for the operator. */
  readonly stderr: string
}

/** Why an instance did not become ready. */
export class BootFailure extends Error {
  override readonly name = 'BootFailure'
  /** Stack or stderr of the function, for its author. */
  readonly detail: string

  constructor(message: string, detail: string) {
    super(message)
    this.detail = detail
  }
}

export interface InstanceOptions {
  readonly id: string
  readonly name: string
  readonly command: Command
  /** Ingress socket as the host sees it. */
  readonly ingress: string
  readonly env: Readonly<Record<string, string>>
  /** Stands for the service key in `env`. */
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
  /** @param requestId of the call that the line names, if the instance really has or just had it */
  readonly onLine: (line: FunctionLine, requestId: string | null) => void
}

const PING_AFTER_USE_MS = 1000
/** Time for what a function does when it is told that its instance ends (`beforeunload`). */
export const GRACE_MS = 2000
/** Stall of the event loop, in milliseconds, from which an instance is busy and gets no further calls until it answers. */
const BUSY_MS = 50
const NICE = 5
/** Last output of a runtime that met the data limit: in V8's heap, in its own, or when it wanted one more thread. */
const OUT_OF_MEMORY =
  /JavaScript heap out of memory|Fatal JavaScript (?:invalid size|out of memory)|unable to create worker threads|memory allocation of [0-9]{1,20} bytes failed/

/** One process and everything the host knows about it. */
export class Instance {
  readonly id: string
  readonly upstream: Upstream
  readonly serviceToken: string
  /** Settles when the function answers requests, or rejects with {@link BootFailure}. */
  readonly ready: Promise<void>
  readonly exited: Promise<Exit>
  /** Moment of the last sign of use. */
  usedAt: number
  /** True when it accepts no more requests and ends when it has no work. */
  retiring = false
  pid: number
  /**
   * Number of calls that it may have at once, as its event loop shows: it doubles while all of it is used and pings are
   * answered soon, and is halved when computing delays an answer.
   */
  window = 1
  /** True while its event loop computes instead of answering. */
  busy = false
  /** True when it is being ended without grace. */
  isKilled = false
  /** Called after each answer to a ping. */
  onPong: () => void = ignore
  #alive = true
  readonly #options: InstanceOptions
  readonly #process: ChildProcess
  readonly #calls: Presences
  #reason: ExitReason | null = null
  #stderr = ''
  #pings = 0
  #pongs = 0
  #pingedAt = 0
  #stoodMs = 0
  #checkedAt = performance.now()
  #usage: Usage | null = null
  #health = NEW_BORN
  readonly #renewAt: number
  readonly #booted = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<Exit>()

  constructor(options: InstanceOptions) {
    this.#options = options
    this.#calls = new Presences(options.timeoutMs)
    this.id = options.id
    this.serviceToken = options.serviceToken
    this.usedAt = performance.now()
    this.#renewAt = this.usedAt + options.renewMs
    this.upstream = new Upstream(options.ingress)
    this.ready = this.#booted.promise
    this.exited = this.#ended.promise
    this.ready.catch(() => {})
    const { command } = options
    this.#process = spawn(command.file, command.args, {
      env: command.env,
      cwd: command.cwd,
      stdio: command.keeper ? ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe'],
    })
    this.pid = this.#process.pid ?? 0
    this.#listen(command.keeper)
    this.#process.stdin!.write(
      `${JSON.stringify({
        name: options.name,
        bundle: command.bundle,
        ingress: command.ingress,
        gateway: command.gateway,
        sockets: { path: command.sockets, listed: options.reach },
        env: options.env,
        tmp: { module: command.tmp, bytes: options.tmpMb * 1024 * 1024 },
      })}\n`,
    )
    const timer = setTimeout(() => {
      this.#booted.reject(new BootFailure(`it was not ready within ${options.bootMs} ms`, this.#stderr))
      this.kill('boot_timeout')
    }, options.bootMs)
    this.ready.finally(() => clearTimeout(timer)).catch(() => {})
  }

  /** Requests in it right now. */
  get inflight(): number {
    return this.#calls.unanswered
  }

  /** True when it may be given another request. */
  get accepting(): boolean {
    return this.#alive && !this.retiring && this.#reason === null
  }

  /** Why the host is ending it; null while it is not. */
  get doom(): ExitReason | null {
    return this.#reason
  }

  /** True while a request or background work of one is in it. */
  get working(): boolean {
    return this.#calls.any
  }

  /** The call that a project API request claims to come from, if this instance really has it. */
  call(id: string): Call | undefined {
    return this.#calls.get(id)
  }

  begin(call: Call): void {
    this.#calls.enter(call)
  }

  /** The call may go on until then. */
  prolong(call: Call, until: number): void {
    this.#calls.prolong(call, until)
  }

  /** The call has ended. @param heldByAnswer whether its answer announced background work */
  end(call: Call, heldByAnswer: boolean): void {
    this.usedAt = performance.now()
    this.#calls.answer(call, heldByAnswer, this.usedAt)
  }

  /** Asks the process to end, and ends it when it has not within its grace. Only for one without work. */
  dismiss(reason: 'idle' | 'replaced'): void {
    if (!this.#alive || this.#reason !== null) return
    this.#reason = reason
    this.#process.stdin!.write(`end ${reason === 'idle' ? 'early_drop' : 'termination'}\n`)
    setTimeout(() => this.kill(reason), GRACE_MS).unref()
  }

  /** Ends the process at once. */
  kill(reason: ExitReason): void {
    if (!this.#alive) return
    this.isKilled = true
    this.#reason ??= reason
    this.upstream.close()
    try {
      process.kill(this.pid, 'SIGKILL')
    } catch {
      // It is gone already, or it is a keeper's child that is not announced yet: then the keeper takes it along.
    }
    this.#process.kill('SIGKILL')
  }

  /** Nothing listens where it did: the function has closed its server, or is ending. */
  replaceDeaf(): void {
    if (this.#process.exitCode === null && this.#process.signalCode === null)
      this.#stderr += '\nits server was closed while it could still be called'
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
    const isWaiting = this.#pings > this.#pongs
    const isDue = active || isWaiting || now - this.#health.sampledAt >= SAMPLE_MS
    const usage = isDue ? this.#options.meter(this.pid) : null
    if (isWaiting) {
      const passedMs = Math.min(now - this.#checkedAt, now - this.#pingedAt) - lateMs
      this.#stoodMs += stoodStill(this.#usage, usage, Math.max(0, passedMs))
    }
    this.#checkedAt = now
    if (usage) this.#usage = usage
    if (this.#stoodMs > BUSY_MS) this.busy = true
    if (this.inflight === 0) this.window = 1
    if (this.#stoodMs > this.#options.blockMs) this.kill('blocked')
    else if (active) this.probe()
    if (usage) this.#sample(usage, now)
  }

  /** Asks the event loop for a sign, unless it has been asked and has not answered. */
  probe(): void {
    if (this.#pings > this.#pongs) return
    this.#pingedAt = performance.now()
    this.#stoodMs = 0
    this.#process.stdin!.write(`ping ${++this.#pings}\n`)
  }

  #answered(): void {
    const now = performance.now()
    const waitedMs = now - this.#pingedAt
    let stoodMs = 0
    if (waitedMs > BUSY_MS) {
      const usage = this.#options.meter(this.pid)
      // It runs again, so only its CPU time tells whether it or the machine was busy.
      stoodMs = stoodStill(this.#usage, usage && { ...usage, state: 'R' }, waitedMs)
    }
    this.#stoodMs = 0
    this.busy = stoodMs > BUSY_MS
    if (this.busy) this.window = Math.max(1, this.window >> 1)
    else if (this.inflight >= this.window) this.window *= 2
    this.onPong()
  }

  #sample(usage: Usage, now: number): void {
    const { memoryMb } = this.#options
    const { health, verdict } = judge(this.#health, usage, { memoryMb, working: this.working, now })
    this.#health = health
    if (verdict === 'worn') this.retiring = true
    else if (verdict !== 'fine') this.kill(verdict)
  }

  #listen(keeper: Command['keeper']): void {
    const child = this.#process
    child.stdin!.on('error', ignore)
    this.#read(child.stdout!)
    this.#read(child.stderr!, (chunk) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-4096)
    })
    if (keeper) {
      const filter = child.stdio[4] as Writable
      filter.on('error', ignore)
      filter.end(keeper.filter ?? undefined)
      child.stdio[3]!.once('data', (chunk: Buffer) => {
        const pid = /"child-pid": *(\d+)/.exec(chunk.toString('latin1'))?.[1]
        if (pid !== undefined) this.pid = Number(pid)
      })
    }
    child.once('error', (error) => this.#gone(null, null, error.message))
    child.once('exit', () => {
      child.stdout!.resume()
      child.stderr!.resume()
    })
    child.once('close', (code, signal) => this.#gone(code, signal, ''))
    if (this.pid > 0) lowerPriority(this.pid)
  }

  #read(stream: Readable, also?: (chunk: Buffer) => void): void {
    const output = new Output(
      {
        message: (message) => this.#receive(message),
        line: (line) => this.#options.onLine(line, this.#calls.requestIdOf(line.call)),
        throttle: (ms) => {
          stream.pause()
          setTimeout(() => stream.resume(), ms)
        },
      },
      performance.now(),
    )
    stream.on('data', (chunk: Buffer) => {
      also?.(chunk)
      output.push(chunk, performance.now())
    })
    stream.on('error', ignore)
  }

  #receive(message: ShimMessage): void {
    switch (message.t) {
      case 'ready':
        if (isSocket(this.#options.ingress)) this.#booted.resolve()
        else this.#booted.reject(new BootFailure('it listens on no socket', this.#stderr))
        break
      case 'failed':
        this.#booted.reject(new BootFailure(message.message, message.stack))
        break
      case 'pong':
        if (message.n !== this.#pings || this.#pongs === this.#pings) break
        this.#pongs = this.#pings
        this.#answered()
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
    const stderr = this.#stderr + problem
    const outOfMemory = OUT_OF_MEMORY.test(stderr)
    const ended = this.#reason ?? 'crashed'
    const reason = outOfMemory && ended === 'crashed' ? 'memory' : ended
    this.#booted.reject(new BootFailure(`it ended while starting (${signal ?? `exit code ${code}`})`, stderr))
    this.upstream.close()
    this.#ended.resolve({ reason, code, signal, stderr })
  }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICE)
  } catch {
    // Not allowed, or already gone: neighbours get a little less of a busy CPU.
  }
}

/** A link in its place would redirect the host. */
function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true
}

function ignore(): void {}
