import { spawn, type ChildProcess } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import type { Command } from '../runtime/runtime.ts'
import { Upstream } from '../upstream/upstream.ts'
import type { Meter } from './meter.ts'
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
  /** End of what it wrote to stderr, for the operator. */
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

/** A request that is in the instance, or whose background work is. */
export interface Call {
  /** Unique on this host; never what a caller chose. */
  readonly id: string
  readonly requestId: string
  /** Moment after which it is ended, in `performance.now()` milliseconds. */
  readonly deadline: number
  expire(): void
}

export interface InstanceOptions {
  readonly id: string
  readonly name: string
  readonly command: Command
  /** Ingress socket as the host sees it. */
  readonly ingress: string
  readonly env: Readonly<Record<string, string>>
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

interface Presence {
  readonly call: Call
  answered: boolean
  /** Whether it has background work, as far as the shim has said. */
  held: boolean | null
  /** When the call is ended, or after its answer, forgotten. */
  until: number
}

const PING_AFTER_USE_MS = 1000
/** How many calls that left are remembered for their lines. */
const MOST_LEFT = 256
const IDLE_SAMPLE_MS = 1000
/** Share of one core that counts as busy for an instance without work, and how many samples in a row end it. */
const IDLE_CPU_SHARE = 0.3
const IDLE_CPU_SAMPLES = 10
/** Private memory of the runtime itself, on top of the function's budget. */
const RUNTIME_MB = 40
/** CPU seconds after which an instance is replaced in peace, well before the kernel's limit. */
const REPLACE_AFTER_CPU_SECONDS = 1800
const NICE = 5
/** Last words of a runtime that met the data limit: in V8's heap, in its own, or when it wanted one more thread. */
const OUT_OF_MEMORY =
  /JavaScript heap out of memory|Fatal JavaScript (?:invalid size|out of memory)|unable to create worker threads|memory allocation of [0-9]{1,20} bytes failed/

/** One process and everything the host knows about it. */
export class Instance {
  readonly id: string
  readonly upstream: Upstream
  /** Settles when the function answers requests, or rejects with {@link BootFailure}. */
  readonly ready: Promise<void>
  readonly exited: Promise<Exit>
  /** Requests in it right now. */
  inflight = 0
  /** Moment of the last sign of use. */
  usedAt: number
  /** True when it takes no more requests and ends when empty. */
  retiring = false
  pid: number
  private alive = true
  private readonly options: InstanceOptions
  private readonly process: ChildProcess
  private readonly calls = new Map<string, Presence>()
  /** Request ids of the last calls that left: what they printed may come after their answer. */
  private readonly left = new Map<string, string>()
  private reason: ExitReason | null = null
  private stderr = ''
  private pings = 0
  private pongs = 0
  private pingedAt = 0
  private sampledAt = 0
  private cpuSeconds = 0
  private busySamples = 0
  private busy = false
  private readonly booted = Promise.withResolvers<void>()
  private readonly ended = Promise.withResolvers<Exit>()

  constructor(options: InstanceOptions) {
    this.options = options
    this.id = options.id
    this.usedAt = performance.now()
    this.upstream = new Upstream(options.ingress)
    this.ready = this.booted.promise
    this.exited = this.ended.promise
    this.ready.catch(() => {})
    const { command } = options
    this.process = spawn(command.file, command.args, {
      env: command.env,
      cwd: '/',
      stdio: command.keeper ? ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe'],
    })
    this.pid = this.process.pid ?? 0
    this.listen(command.keeper)
    this.process.stdin!.write(
      `${JSON.stringify({
        name: options.name,
        bundle: command.bundle,
        ingress: command.ingress,
        gateway: command.gateway,
        sockets: { path: command.sockets, listed: options.reach },
        env: options.env,
      })}\n`,
    )
    const timer = setTimeout(() => {
      this.booted.reject(new BootFailure(`it was not ready within ${options.bootMs} ms`, this.stderr))
      this.kill('boot_timeout')
    }, options.bootMs)
    this.ready.finally(() => clearTimeout(timer)).catch(() => {})
  }

  /** True when it may be given another request. */
  get accepting(): boolean {
    return this.alive && !this.retiring && this.reason === null
  }

  /** Why the host is ending it; null while it is not. */
  get doom(): ExitReason | null {
    return this.reason
  }

  /** True while a request or background work of one is in it. */
  get working(): boolean {
    return this.calls.size > 0
  }

  /** The call that a project API request says it comes from, if this instance really has it. */
  call(id: string): Call | undefined {
    return this.calls.get(id)?.call
  }

  begin(call: Call): void {
    this.inflight++
    this.calls.set(call.id, { call, answered: false, held: null, until: call.deadline })
  }

  /**
   * The call has left.
   *
   * @param heldByAnswer what its answer said about background work; a line from the shim counts more, but may be later
   */
  end(call: Call, heldByAnswer: boolean): void {
    this.inflight--
    this.usedAt = performance.now()
    const presence = this.calls.get(call.id)!
    presence.answered = true
    if (presence.held ?? heldByAnswer) presence.until = this.usedAt + this.options.timeoutMs
    else this.forget(call.id)
  }

  /** Ends the process at once. */
  kill(reason: ExitReason): void {
    if (!this.alive) return
    this.reason ??= reason
    this.upstream.close()
    try {
      process.kill(this.pid, 'SIGKILL')
    } catch {
      // It is gone already, or it is a keeper's child that is not announced yet: then the keeper takes it along.
    }
    this.process.kill('SIGKILL')
  }

  /**
   * The watchdog's look, about ten times a second.
   *
   * @param lateMs how late the host itself is with this look: no instance is blamed for that
   */
  check(now: number, lateMs: number): void {
    if (!this.alive) return
    this.upstream.sweep(now)
    this.pingedAt += lateMs
    for (const [id, { call, answered, until }] of this.calls) {
      if (now < until) continue
      if (answered) this.forget(id)
      else call.expire()
    }
    const active = this.calls.size > 0 || this.busy || now - this.usedAt < PING_AFTER_USE_MS
    const waited = this.pings > this.pongs ? now - this.pingedAt : 0
    if (waited > this.options.blockMs) this.kill('blocked')
    else if (active && waited === 0) this.ping(now)
    if (active || now - this.sampledAt >= IDLE_SAMPLE_MS) this.sample(now)
  }

  private ping(now: number): void {
    this.pingedAt = now
    this.process.stdin!.write(`ping ${++this.pings}\n`)
  }

  private sample(now: number): void {
    const usage = this.options.meter(this.pid)
    if (!usage) return
    if (usage.privateMb > this.options.memoryMb + RUNTIME_MB) return this.kill('memory')
    if (now - this.sampledAt < IDLE_SAMPLE_MS) return
    const share = (usage.cpuSeconds - this.cpuSeconds) / ((now - this.sampledAt) / 1000)
    this.busy = this.sampledAt > 0 && share > IDLE_CPU_SHARE
    this.busySamples = this.busy && !this.working ? this.busySamples + 1 : 0
    if (this.busySamples >= IDLE_CPU_SAMPLES) this.kill('idle_cpu')
    if (usage.cpuSeconds > REPLACE_AFTER_CPU_SECONDS) this.retiring = true
    this.sampledAt = now
    this.cpuSeconds = usage.cpuSeconds
  }

  private listen(keeper: Command['keeper']): void {
    const { process: child } = this
    child.stdin!.on('error', ignore)
    this.read(child.stdout!)
    this.read(child.stderr!, (chunk) => {
      this.stderr = (this.stderr + chunk.toString('utf8')).slice(-4096)
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
    child.once('error', (error) => this.gone(null, null, error.message))
    child.once('exit', () => {
      child.stdout!.resume()
      child.stderr!.resume()
    })
    child.once('close', (code, signal) => this.gone(code, signal, ''))
    if (this.pid > 0) lowerPriority(this.pid)
  }

  private read(stream: Readable, also?: (chunk: Buffer) => void): void {
    const output = new Output(
      {
        message: (message) => this.receive(message),
        line: (line) => this.options.onLine(line, this.call(line.call)?.requestId ?? this.left.get(line.call) ?? null),
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

  private receive(message: ShimMessage): void {
    switch (message.t) {
      case 'ready':
        if (isSocket(this.options.ingress)) this.booted.resolve()
        else this.booted.reject(new BootFailure('it listens on no socket', this.stderr))
        break
      case 'failed':
        this.booted.reject(new BootFailure(message.message, message.stack))
        break
      case 'pong':
        if (message.n === this.pings) this.pongs = this.pings
        break
      case 'hold':
      case 'release':
        this.hold(message.call, message.t === 'hold')
        break
    }
  }

  private forget(id: string): void {
    const { requestId } = this.calls.get(id)!.call
    this.calls.delete(id)
    this.left.set(id, requestId)
    if (this.left.size > MOST_LEFT) this.left.delete(this.left.keys().next().value!)
  }

  /** Background work counts for calls that are really here, and no longer than a request may take. */
  private hold(id: string, held: boolean): void {
    const presence = this.calls.get(id)
    if (!presence) return
    presence.held = held
    if (!presence.answered) return
    if (held) presence.until = performance.now() + this.options.timeoutMs
    else this.forget(id)
  }

  private gone(code: number | null, signal: string | null, problem: string): void {
    if (!this.alive) return
    this.alive = false
    const stderr = this.stderr + problem
    const outOfMemory = OUT_OF_MEMORY.test(stderr)
    const reason = this.reason ?? (outOfMemory ? 'memory' : 'crashed')
    this.booted.reject(new BootFailure(`it ended while starting (${signal ?? `exit code ${code}`})`, stderr))
    this.upstream.close()
    this.ended.resolve({ reason, code, signal, stderr })
  }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICE)
  } catch {
    // Not allowed, or already gone: neighbours get a little less of a busy CPU.
  }
}

/** A link in its place would lead the host elsewhere. */
function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true
}

function ignore(): void {}
