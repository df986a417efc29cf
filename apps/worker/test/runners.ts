import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { freePorts } from '@terrane/testing/ports'
import { compileCache } from '@terrane/testing/compile-cache'

/** Workers that may run at once. */
const NAMES = 4

/** Processes of a worker. The port names a worker: one on the same port takes over what the one before it left. */
export class Runners implements Disposable {
  readonly #script: URL
  readonly #env: NodeJS.ProcessEnv
  readonly #children = new Set<ChildProcess>()
  #ports: readonly number[] = []

  constructor(script: URL, env: NodeJS.ProcessEnv) {
    this.#script = script
    this.#env = env
  }

  /** Starts a worker and waits until it listens. @param which of the names it has */
  async start(which = 0): Promise<ChildProcess> {
    const env = { ...compileCache, ...this.#env, PORT: String(await this.port(which)) }
    const child = fork(this.#script, { env, stdio: 'inherit' })
    this.#children.add(child)
    const exited = once(child, 'exit').then(([code]) => {
      this.#children.delete(child)
      throw new Error(`the worker ended with ${code as number} before it listened`)
    })
    exited.catch(() => {})
    await Promise.race([once(child, 'message'), exited])
    return child
  }

  /** The port that is a name of a worker. */
  async port(which: number): Promise<number> {
    if (this.#ports.length === 0) this.#ports = await freePorts(NAMES)
    return this.#ports[which]!
  }

  /** Whether a worker continues. */
  has(child: ChildProcess): boolean {
    return this.#children.has(child)
  }

  /** Sends a signal and waits for the end: its code, or the signal that ended it. */
  async end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<readonly [number | null, string | null]> {
    const exited = once(child, 'exit')
    child.kill(signal)
    return (await exited) as [number | null, string | null]
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }
}
