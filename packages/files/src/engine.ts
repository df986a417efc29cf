import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { conversionFailed, engineUnavailable, layerUnknown, readerTooLarge, sourceSrsNeeded } from './errors.ts'
import type { Driver } from './unpack/sniff.ts'

/** Input of a conversion. All of it has been checked: only names are text of clients. */
export interface Conversion {
  /** Folder with the files of the data set only. */
  readonly folder: string
  /** The data set within the folder; '.' for the folder itself. */
  readonly file: string
  readonly driver: Driver
  readonly openOptions: readonly string[]
  /** Null for all layers. */
  readonly layer: string | null
  /** Options of ogr2ogr. */
  readonly options: readonly string[]
  /** The GeoPackage to write, in a folder of its own. */
  readonly target: string
}

export interface Layer {
  readonly name: string
  /** Number of features; null when unknown. */
  readonly features: number | null
}

/** Converts layers of a data set into a GeoPackage, in a process that can be killed. */
export interface Engine {
  /**
   * @returns the layers of the data set
   * @throws LAYER_UNKNOWN, SOURCE_SRS_NEEDED, CONVERSION_FAILED, ENGINE_UNAVAILABLE
   */
  convert(conversion: Conversion, workdir: string, signal: AbortSignal): Promise<readonly Layer[]>
}

const LONGEST_MESSAGE = 4000

/**
 * A child process with a fixed environment: no shell, no inherited variables, in a process group that ends together.
 */
export class EngineProcess {
  readonly child: ChildProcess
  readonly ended: Promise<void>
  #messages = ''
  /** First message about a damaged source; later messages do not replace it. */
  #damage: string | null = null
  #reason: Error | null = null

  constructor(
    command: string,
    args: readonly string[],
    options: { cwd: string; env: Readonly<Record<string, string>>; events: boolean },
    signal: AbortSignal,
  ) {
    signal.throwIfAborted()
    this.child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: [options.events ? 'pipe' : 'ignore', 'pipe', 'pipe', options.events ? 'pipe' : 'ignore'],
      detached: process.platform !== 'win32',
    })
    const kill = () => this.kill()
    signal.addEventListener('abort', kill)
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      const messages = this.#messages + text
      this.#damage ??= DAMAGED.exec(messages)?.[0] ?? null
      this.#messages = messages.slice(-LONGEST_MESSAGE)
    })
    this.ended = this.#end(signal).finally(() => signal.removeEventListener('abort', kill))
    this.ended.catch(() => {})
  }

  /** Last error message of the engine. */
  get complaint(): string {
    return plainComplaint(this.#messages)
  }

  /** Ends it for a reason, with which {@link ended} rejects. */
  end(reason: Error): void {
    this.#reason ??= reason
    this.kill()
  }

  kill(): void {
    const { pid } = this.child
    if (pid === undefined) return
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }

  /** Kills the process and closes its output: `close` never fires while unread bytes remain there. */
  async abandon(): Promise<void> {
    this.kill()
    this.child.stdout!.destroy()
    await this.ended.catch(() => {})
  }

  async #end(signal: AbortSignal): Promise<void> {
    let code: number | null
    let killedBy: NodeJS.Signals | null
    try {
      ;[code, killedBy] = (await once(this.child, 'close')) as [number | null, NodeJS.Signals | null]
    } catch (cause) {
      throw engineUnavailable({ reason: (cause as Error).message }, { cause })
    }
    if (signal.aborted) throw signal.reason
    if (this.#reason) throw this.#reason
    if (code !== 0 && isOutOfMemory(this.#messages)) throw readerTooLarge()
    if (killedBy !== null) throw conversionFailed({ reason: `its reader was ended by ${killedBy}` })
    if (code !== 0) throw isAboutSrs(this.#messages) ? sourceSrsNeeded() : conversionFailed({ reason: this.complaint })
    checkWhole(this.#damage ?? '')
  }
}

/** A line with only the position of an error in the engine's sources. */
const OWN_PLACE = /^In file .{1,400}\.cpp, at line/

/** Lines of crash reports of Node and V8, which have stacks, paths and versions. */
const CRASH = /^(?:Node\.js v\d|# Fatal error in |-{5} (?:Native|JavaScript) stack trace -{5})/m

/**
 * The last lines of the engine's messages, without repetitions, error numbers and positions in its sources. A crash report
 * is replaced.
 */
export function plainComplaint(messages: string): string {
  if (CRASH.test(messages)) return 'its reader crashed; the file may be damaged'
  const lines = messages
    .split('\n')
    .map((line) => (/\.cpp, \d{1,6}: (.*)/.exec(line)?.[1] ?? line.replace(/^ERROR \d+: /, '')).trim())
    .filter((line) => line !== '' && !OWN_PLACE.test(line))
  return [...new Set(lines)].slice(-3).join('; ').slice(0, 600) || 'the engine gave no reason'
}

/** @throws LAYER_UNKNOWN, CONVERSION_FAILED when there are no layers */
export function checkLayer(layers: readonly Layer[], wanted: string | null): void {
  if (layers.length === 0) throw conversionFailed({ reason: 'it has no layers' })
  if (wanted !== null && !layers.some(({ name }) => name === wanted)) {
    throw layerUnknown({ layer: wanted, layers: layers.map(({ name }) => name) })
  }
}

/**
 * Messages of GDAL for truncated or malformed text. For some formats GDAL reports success and keeps only the earlier
 * features. Unreadable formulas of sheets and style files do not count.
 */
const DAMAGED =
  /^ERROR \d+: (?:XML parsing of (?!.{0,200}styles\.xml).{1,300} file failed|An error occurred during the parsing of data|Parsing LV BAG extract failed)/im

/** @throws CONVERSION_FAILED when the messages of an engine that succeeded report a damaged source */
export function checkWhole(messages: string): void {
  if (DAMAGED.test(messages)) throw conversionFailed({ reason: plainComplaint(messages) })
}

/** Converts an engine's complaint to an error with a remedy. */
export function failure(complaint: string): Error {
  return isAboutSrs(complaint) ? sourceSrsNeeded() : conversionFailed({ reason: complaint })
}

/** Whether a message reports that a process, or SQLite in it, has run out of memory. */
export function isOutOfMemory(messages: string): boolean {
  return /out of memory|std::bad_alloc|allocation failed|Failed to allocate memory|string or blob too big/i.test(
    messages,
  )
}

/** Whether a message reports that the reference system of the source is unknown. */
function isAboutSrs(complaint: string): boolean {
  return /source layer has no coordinate system|Use -s_srs/i.test(complaint)
}
