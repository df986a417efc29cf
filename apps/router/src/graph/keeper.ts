import { rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { TerraneError } from '@terrane/core'
import { factsOf, mapNetworkFile, readNetworkFile, type Network } from '@terrane/routing'
import type { Logger } from '@terrane/service'
import { nothingToServe } from '../errors.ts'
import type { BuildChoices, BuildGraph } from './build.ts'
import { openDraft } from './drafts.ts'
import { isOnLocalDisk } from './local-disk.ts'
import { digestOf, lookAgain, reasonOf, type Extract, type Extracts } from './extracts.ts'

export interface KeeperOptions {
  /** Extracts of the graph; null when an existing graph file is served. */
  readonly extracts: Extracts | null
  readonly graphPath: string
  readonly choices: BuildChoices
  readonly build: BuildGraph
  /** Whether the graph file is mapped; null: if it is on a local disk and no other program replaces it. */
  readonly mapped: boolean | null
  /** Milliseconds between two checks of the files; 0 for none. */
  readonly watchMs: number
  readonly logger: Logger
  readonly serve: (network: Network) => Promise<void>
  readonly onOutcome?: (outcome: Outcome) => void
}

/** Outcome of an attempt to bring a graph into service. */
export type Outcome = 'loaded' | 'built' | 'failed'

/** Sources of a graph in their current state on disk. */
interface Inputs {
  readonly digest: string
  /** Null when the graph file itself is the input. */
  readonly extracts: readonly Extract[] | null
}

/** First and longest delay after failed checks of the inputs, in milliseconds. */
const RETRY_MS = 1000
const LONGEST_RETRY_MS = 300_000

/**
 * Keeps the served graph up to date with its inputs. At the start the graph file is loaded. If it is missing, damaged,
 * of another version or made from other inputs, it is built from the extracts. After that, changed files are noticed;
 * the new graph is built while the old one serves, and replaces it when complete. After a failure the current graph
 * stays in service.
 */
export class GraphKeeper implements AsyncDisposable {
  readonly #options: KeeperOptions
  readonly #stop = new AbortController()
  #served: string | null = null
  /** Inputs from which no graph could be built; they are tried again when they change or a refresh is requested. */
  #refused: string | null = null
  #failure: Error | null = null
  /** Message of the last logged failure; empty after a success. */
  #complaint = ''
  #asked = false
  #wake: () => void = () => {}
  #running: Promise<void> = Promise.resolve()

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  /** Error of the latest attempt; null after a success. */
  get failure(): Error | null {
    return this.#failure
  }

  /**
   * Starts to load or build, and to watch the files. Without the extracts it serves an existing graph file that was
   * made from them.
   *
   * @throws EXTRACT_MISSING, NOTHING_TO_SERVE when files are not there, and no graph of them either
   */
  async start(): Promise<void> {
    const { extracts, graphPath, logger } = this.#options
    if (extracts === null) await lookAtGraph(graphPath)
    else {
      try {
        await extracts.checkFiles()
      } catch (error) {
        if (!(await this.#serveKept(extracts))) throw error
        logger.warn({ err: error, graph: graphPath }, 'an extract is gone, the graph that was made of it is served')
      }
    }
    this.#running = this.#run()
  }

  /** Serves the graph file if it was made from the configured extracts, in any version of them. */
  async #serveKept(extracts: Extracts): Promise<boolean> {
    const kept = await this.#readKept()
    if (kept === null) return false
    const { inputs, sources } = factsOf(kept)
    if (sources.join() !== extracts.paths().join()) return false
    await this.#serve(kept, inputs)
    this.#options.onOutcome?.('loaded')
    return true
  }

  /** Checks all inputs now, including the servers of extracts. */
  refresh(): void {
    this.#asked = true
    this.#wake()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { watchMs, onOutcome } = this.#options
    let renew = true
    let seen: string | null = null
    let failures = 0
    while (!this.#stop.signal.aborted) {
      const asked = this.#asked
      this.#asked = false
      let waitMs = watchMs
      try {
        const inputs = await this.#look(renew || asked)
        renew = false
        // A file that is being written changes between checks, so it is used only after two equal checks.
        const isSettled = this.#served === null || asked || inputs.digest === seen
        seen = inputs.digest
        if (isSettled && (await this.#follow(inputs, asked)) === 'changed') waitMs = RETRY_MS
        failures = 0
        this.#complaint = ''
      } catch (error) {
        if (this.#stop.signal.aborted) return
        this.#failure = error as Error
        // If the inputs cannot be checked, for example because a server is down, an existing graph is served.
        const { extracts } = this.#options
        if (this.#served === null && this.#refused === null && extracts !== null) await this.#serveKept(extracts)
        onOutcome?.('failed')
        this.#complain(error as Error)
        if (this.#refused === null) waitMs = Math.min(RETRY_MS * 2 ** failures++, LONGEST_RETRY_MS)
      }
      await this.#pause(waitMs)
    }
  }

  /** Logs a failure; a lasting one only once. */
  #complain(error: Error): void {
    const { logger, graphPath } = this.#options
    if (error.message === this.#complaint) return
    this.#complaint = error.message
    // Errors with a code are logged without their stack.
    const said = error instanceof TerraneError ? { code: error.code, reason: error.message } : { err: error }
    logger.error({ ...said, graph: graphPath }, 'the routing graph could not be brought up to date')
  }

  async #look(renew: boolean): Promise<Inputs> {
    const { extracts, graphPath, choices } = this.#options
    if (extracts === null) return { digest: await lookAtGraph(graphPath), extracts: null }
    const located = await extracts.locate(renew, this.#stop.signal)
    return { digest: digestOf(located, choices), extracts: located }
  }

  /** Serves the graph of these inputs, unless it does, or its build failed and no refresh is requested. */
  async #follow(inputs: Inputs, asked: boolean): Promise<'done' | 'changed'> {
    if (inputs.digest === this.#served || (inputs.digest === this.#refused && !asked)) return 'done'
    this.#refused = null
    const outcome =
      inputs.extracts === null ? await this.#load(inputs) : await this.#make(inputs.digest, inputs.extracts)
    this.#refused = null
    if (outcome === 'changed') return outcome
    this.#failure = null
    this.#options.onOutcome?.(outcome)
    return 'done'
  }

  async #load({ digest }: Inputs): Promise<'loaded'> {
    this.#refused = digest
    await this.#serve(await this.#read(this.#options.graphPath), digest)
    return 'loaded'
  }

  async #make(digest: string, extracts: readonly Extract[]): Promise<'loaded' | 'built' | 'changed'> {
    const { graphPath, choices, build, logger } = this.#options
    const paths = extracts.map(({ path }) => path)
    const kept = this.#served === null ? await this.#readKept() : null
    if (kept !== null) {
      const { inputs, sources } = factsOf(kept)
      const isCurrent = inputs === digest
      // An older graph of the same extracts is served while the new one is built.
      if (isCurrent || sources.join() === paths.join()) await this.#serve(kept, inputs)
      if (isCurrent) return 'loaded'
    }
    await using draft = await openDraft(dirname(graphPath))
    this.#refused = digest
    const output = join(draft.path, 'graph.bin')
    const task = {
      extracts: extracts.map(({ name, path }) => ({ name, path })),
      choices,
      inputs: digest,
      output,
      draft: draft.path,
    }
    logger.info({ extracts: extracts.map(({ name }) => name) }, 'building the routing graph')
    const onProgress = (phase: string, message: string | null) => logger.debug({ phase, message }, 'building')
    await build(task, onProgress, this.#stop.signal)
    if (digestOf(await Promise.all(extracts.map(lookAgain)), choices) !== digest) return 'changed'
    const network = await this.#read(output)
    await rename(output, graphPath)
    await this.#serve(network, digest)
    return 'built'
  }

  /** The graph of an earlier start; null when it cannot be used. */
  async #readKept(): Promise<Network | null> {
    const { graphPath, logger } = this.#options
    try {
      return await this.#read(graphPath)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        logger.warn({ err: error, graph: graphPath }, 'the graph file cannot be used, so it is built again')
      return null
    }
  }

  async #read(path: string): Promise<Network> {
    const { extracts, mapped } = this.#options
    if (!(mapped ?? (extracts !== null && (await isOnLocalDisk(path))))) return readNetworkFile(path)
    try {
      return await mapNetworkFile(path)
    } catch (error) {
      if (!(error instanceof TerraneError) || error.code !== 'MAPPING_FAILED') throw error
      this.#options.logger.warn({ err: error, graph: path }, 'the graph file is copied into memory')
      return readNetworkFile(path)
    }
  }

  async #serve(network: Network, digest: string): Promise<void> {
    const started = performance.now()
    await this.#options.serve(network)
    this.#served = digest
    const { nodes, edges, bytes, unread } = factsOf(network)
    const unreadTags = unread.reduce((sum, { count }) => sum + count, 0)
    const startMs = Math.round(performance.now() - started)
    this.#options.logger.info({ nodes, edges, bytes, unreadTags, startMs }, 'serving the routing graph')
  }

  /** Waits for the given time or a requested refresh; with 0 only for a refresh. */
  async #pause(milliseconds: number): Promise<void> {
    if (this.#asked || this.#stop.signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = milliseconds > 0 ? setTimeout(resolve, milliseconds) : undefined
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

async function lookAtGraph(path: string): Promise<string> {
  try {
    const { size, mtimeMs, ino } = await stat(path)
    return `${size} ${mtimeMs} ${ino}`
  } catch (cause) {
    throw nothingToServe({ path, reason: reasonOf(cause) }, { cause })
  }
}
