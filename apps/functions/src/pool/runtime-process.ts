import { spawn, type ChildProcess } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import type { Command } from '../runtime/runtime.ts'
import type { ShimMessage } from '../runtime/shim/protocol.ts'
import { Output, type FunctionLine } from './output.ts'

const NICE = 5

/** Events of a process, in the order in which they happen. */
export interface ProcessEvents {
  message(message: ShimMessage): void
  line(line: FunctionLine): void
  /** @param problem why it could not be started; empty when it was */
  gone(code: number | null, signal: string | null, problem: string): void
}

/** The process of one instance: lines go in over stdin, messages and lines come out, and its end is noticed once. */
export class RuntimeProcess {
  pid: number
  /** Last part of its stderr output. */
  stderr = ''
  /** Resolves when {@link pid} is that of the runtime, and not of a keeper. */
  readonly started: Promise<void>
  /** Resolves when it has ended, or could not be started. */
  readonly closed: Promise<void>
  readonly #child: ChildProcess
  /** Null until {@link attach}. */
  #events: ProcessEvents | null = null
  /** Arguments of `gone`, once it has ended. */
  #end: Parameters<ProcessEvents['gone']> | null = null

  /** Starts the process. It does nothing until it gets a line. */
  constructor(command: Command) {
    this.#child = spawn(command.file, command.args, {
      env: command.env,
      cwd: command.cwd,
      stdio: command.keeper ? ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe'],
    })
    this.pid = this.#child.pid ?? 0
    this.closed = new Promise((resolve) => this.#child.once('close', () => resolve()).once('error', () => resolve()))
    this.started = Promise.race([this.closed, command.keeper ? this.#reported(command.keeper) : Promise.resolve()])
    this.#listen()
  }

  /** Sets the receiver of events, which soon hears of an end that was before. Earlier lines are lost. */
  attach(events: ProcessEvents): void {
    this.#events = events
    const end = this.#end
    if (end) queueMicrotask(() => events.gone(...end))
  }

  /** True until the process has ended; its output may still be read after that. */
  get isRunning(): boolean {
    return this.pid > 0 && this.#child.exitCode === null && this.#child.signalCode === null
  }

  write(line: string): void {
    this.#child.stdin!.write(`${line}\n`)
  }

  /** Ends it at once. */
  kill(): void {
    // 0 would be every process of the host's own group, and the id of an ended process may be that of another one.
    if (this.pid === 0 || this.#end) return
    try {
      process.kill(this.pid, 'SIGKILL')
    } catch {
      // The process has ended, or it is the child of a keeper that has not reported its pid; the keeper then ends it.
    }
    this.#child.kill('SIGKILL')
  }

  /** Hands the filter to the keeper and waits for the pid of the runtime. */
  #reported({ filter }: NonNullable<Command['keeper']>): Promise<void> {
    const [, , , report, input] = this.#child.stdio as [unknown, unknown, unknown, Readable, Writable]
    input.on('error', ignore)
    input.end(filter ?? undefined)
    return new Promise((resolve) =>
      report.once('data', (chunk: Buffer) => {
        const pid = /"child-pid": *(\d+)/.exec(chunk.toString('latin1'))?.[1]
        if (pid !== undefined) this.pid = Number(pid)
        resolve()
      }),
    )
  }

  #listen(): void {
    const child = this.#child
    child.stdin!.on('error', ignore)
    this.#read(child.stdout!)
    this.#read(child.stderr!, (chunk) => {
      this.stderr = (this.stderr + chunk.toString('utf8')).slice(-4096)
    })
    child.once('error', (error) => this.#gone(null, null, error.message))
    child.once('exit', () => {
      child.stdout!.resume()
      child.stderr!.resume()
    })
    child.once('close', (code, signal) => this.#gone(code, signal, ''))
    if (this.pid > 0) lowerPriority(this.pid)
  }

  #gone(...end: Parameters<ProcessEvents['gone']>): void {
    this.#end ??= end
    this.#events?.gone(...end)
  }

  #read(stream: Readable, also?: (chunk: Buffer) => void): void {
    const output = new Output(
      {
        message: (message) => this.#events?.message(message),
        line: (line) => this.#events?.line(line),
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
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, NICE)
  } catch {
    // The priority could not be set, for lack of permission or because the process has ended; neighbours then get a
    // little less of a busy CPU.
  }
}

function ignore(): void {}
