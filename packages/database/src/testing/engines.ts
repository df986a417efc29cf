import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** An order to the process of the engines. */
export interface EngineOrder {
  /** Number of the order, which its reply has too. */
  readonly id: number
  readonly engine: number
  readonly action:
    | { readonly do: 'start'; /** Path of the snapshot. */ readonly snapshot: string }
    | { readonly do: 'rewind' | 'close' }
}

/** The URL of the engine after an order, or why it could not be carried out. */
export type EngineReply =
  | { readonly id: number; readonly url: string }
  | { readonly id: number; readonly problem: string }

const PROGRAM = fileURLToPath(new URL('./engines.process.ts', import.meta.url))

/** An embedded database in the process of engines. */
export class Engine {
  readonly #process: EngineProcess
  readonly #number: number
  #url: string

  private constructor(process: EngineProcess, number: number, url: string) {
    this.#process = process
    this.#number = number
    this.#url = url
  }

  /** Starts an engine from a snapshot, given as the path of its file. */
  static async start(snapshot: string): Promise<Engine> {
    const process = EngineProcess.current()
    const number = ++process.engines
    return new Engine(process, number, await process.ask(number, { do: 'start', snapshot }))
  }

  get url(): string {
    return this.#url
  }

  /** Whether it ended with its process. */
  get isLost(): boolean {
    return this.#process.end !== null
  }

  /** Id of its process. */
  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Returns to the state of the snapshot, at another URL. @throws Error when the engine is lost */
  async rewind(): Promise<void> {
    this.#url = await this.#process.ask(this.#number, { do: 'rewind' })
  }

  async close(): Promise<void> {
    await this.#process.ask(this.#number, { do: 'close' })
  }
}

/** The process that runs the engines of this process. It ends with this process, and does not keep it alive. */
class EngineProcess {
  static #current: EngineProcess | null = null
  readonly #child: ChildProcess
  readonly #asked = new Map<number, PromiseWithResolvers<string>>()
  #orders = 0
  /** Number of engines that were started. */
  engines = 0
  /** Why it runs no more engines; null while it runs. */
  end: Error | null = null

  static current(): EngineProcess {
    this.#current ??= new EngineProcess()
    return this.#current
  }

  private constructor() {
    this.#child = fork(PROGRAM, {
      execArgv: process.execArgv.filter((option) => option.startsWith('--wasm-')),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child.on('message', (reply: EngineReply) => {
      const asked = this.#asked.get(reply.id)
      if ('url' in reply) asked?.resolve(reply.url)
      else asked?.reject(new Error(reply.problem))
    })
    this.#child.on('exit', (code, signal) => this.#stop(`ended: ${signal ?? code}`))
    this.#child.on('error', ({ message }) => this.#stop(`does not run: ${message}`))
    this.#child.unref()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  async ask(engine: number, action: EngineOrder['action']): Promise<string> {
    if (this.end) throw this.end
    const id = ++this.#orders
    const reply = Promise.withResolvers<string>()
    this.#asked.set(id, reply)
    this.#child.channel?.ref()
    try {
      this.#child.send({ id, engine, action } satisfies EngineOrder, (error) => error && reply.reject(error))
      return await reply.promise
    } finally {
      this.#asked.delete(id)
      if (this.#asked.size === 0) this.#child.channel?.unref()
    }
  }

  /** Lets the next engine start another process. */
  #stop(how: string): void {
    this.end = new Error(`the process of the embedded databases ${how}`)
    if (EngineProcess.#current === this) EngineProcess.#current = null
    for (const { reject } of this.#asked.values()) reject(this.end)
  }
}
