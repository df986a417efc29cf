import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { LRUCache } from 'lru-cache'
import { RestError } from '../rest/errors.ts'
import { tooCostly } from './errors.ts'
import type { DrawnGlyphs } from './glyph-drawing.ts'
import type { Icon, Sheet } from './sprites.ts'

/** Methods of the drawing process. */
export interface DrawingMethods {
  /** Name of the face in a font file. */
  faceName(content: Uint8Array): string
  drawGlyphs(input: {
    readonly files: readonly Uint8Array[]
    readonly start: number
    readonly count: number
  }): DrawnGlyphs
  checkIcon(icon: Icon): Promise<void>
  makeSheet(input: { readonly icons: readonly Icon[]; readonly ratio: number }): Promise<Sheet>
}

export interface DrawingCall {
  readonly id: number
  readonly name: keyof DrawingMethods
  readonly input: unknown
}

export type DrawingReply = { readonly id: number } & (
  | { readonly output: unknown }
  | {
      readonly refusal: {
        readonly status: number
        readonly code: string
        readonly message: string
        readonly details: string | null
        readonly hint: string | null
      }
    }
  | { readonly failure: string }
)

type Input<Name extends keyof DrawingMethods> = Parameters<DrawingMethods[Name]>[0]
type Output<Name extends keyof DrawingMethods> = Awaited<ReturnType<DrawingMethods[Name]>>

/** Maximum milliseconds of one call; a range of Noto Sans or a sheet of 100 icons takes less than a second. */
const MOST_MS = 30_000
const HEAP_MB = 512
/** Milliseconds before a refused file is tried again. */
const REFUSED_MS = 60_000
const MOST_REFUSED = 1000

/**
 * Draws fonts and icons in a separate process, one after the other. The files come from users. A file that takes too
 * long or too much memory, or crashes a library, ends only that process. The SVG library cannot be interrupted
 * otherwise.
 */
export class DrawingProcess implements Disposable {
  #child: ChildProcess | null = null
  #last: Promise<unknown> = Promise.resolve()
  #calls = 0
  readonly #mostMs: number
  readonly #refused = new LRUCache<string, RestError>({ max: MOST_REFUSED, ttl: REFUSED_MS })

  /** @param mostMs time for one call in milliseconds */
  constructor(mostMs = MOST_MS) {
    this.#mostMs = mostMs
  }

  /**
   * @param key identifies the input; one that took too much time or memory is refused for a while
   * @throws BAD_MAP_FILE, SPRITE_TOO_LARGE, MAP_FILE_TOO_COSTLY
   */
  call<Name extends keyof DrawingMethods>(name: Name, input: Input<Name>, key?: string): Promise<Output<Name>> {
    const made = this.#last.then(async (): Promise<Output<Name>> => {
      const refused = key === undefined ? undefined : this.#refused.get(key)
      if (refused) throw refused
      try {
        return (await this.#run(name, input)) as Output<Name>
      } catch (error) {
        if (key !== undefined && error instanceof RestError) this.#refused.set(key, error)
        throw error
      }
    })
    this.#last = made.catch(() => undefined)
    return made
  }

  [Symbol.dispose](): void {
    this.#child?.kill('SIGKILL')
  }

  async #run(name: keyof DrawingMethods, input: unknown): Promise<unknown> {
    // The process may have ended while it was idle.
    if (this.#child?.connected !== true) this.#child = await start()
    const child = this.#child
    const id = ++this.#calls
    const { promise, resolve, reject } = Promise.withResolvers<DrawingReply>()
    const onEnd = () => {
      if (this.#child === child) this.#child = null
      reject(tooCostly())
    }
    const timer = setTimeout(() => void child.kill('SIGKILL'), this.#mostMs)
    child.on('message', resolve).once('exit', onEnd).once('error', onEnd)
    try {
      child.send({ id, name, input } satisfies DrawingCall, (error) => error && child.kill('SIGKILL'))
      const reply = await promise
      if ('output' in reply) return reply.output
      if ('failure' in reply) throw new Error(reply.failure)
      const { status, code, message, details, hint } = reply.refusal
      throw new RestError(status, code, message, { details, hint })
    } finally {
      clearTimeout(timer)
      child.off('message', resolve).off('exit', onEnd).off('error', onEnd)
    }
  }
}

/** Starts the process and waits until it listens, so that the start does not count as time of the file. */
async function start(): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('./drawing.process.ts', import.meta.url))
  const child = fork(program, [], {
    serialization: 'advanced',
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // The process needs no keys of the origin.
    env: {},
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onExit = () => reject(new Error('the process that draws fonts and icons does not start'))
  child
    .once('message', () => resolve())
    .once('exit', onExit)
    .on('error', onExit)
  await promise
  child.off('exit', onExit)
  child.unref()
  child.channel?.unref()
  return child
}
