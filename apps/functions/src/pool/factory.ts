import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DATABASE_TARGET } from '../database/address.ts'
import type { FunctionVersion } from '../function-version.ts'
import { claimFolder } from '../ownership.ts'
import { GATEWAY, INGRESS, SOCKETS, type Runtime } from '../runtime/runtime.ts'
import { Instance } from './instance.ts'
import { KEYS_SECONDS, type IssueKeys } from './instance-keys.ts'
import { createMeter } from './meter.ts'
import type { FunctionLine } from './output.ts'
import { RuntimeProcess } from './runtime-process.ts'
import { Spares, type Place, type Spare } from './spares.ts'

/** Opens the sockets by which one instance reaches the host. */
export interface GatewayDoor {
  /**
   * @param paths paths of the sockets for requests and for connections to other hosts
   * @param instance the instance behind the sockets; null while it is being made
   */
  open(paths: DoorPaths, version: FunctionVersion, instance: () => Instance | null): Promise<AsyncDisposable>
}

export interface DoorPaths {
  readonly gateway: string
  readonly sockets: string
}

/** Range of system users for instances, one user each, when the host is root; null otherwise. */
export interface UserRange {
  readonly first: number
  readonly count: number
}

export interface FactoryOptions {
  readonly runtime: Runtime
  readonly door: GatewayDoor
  readonly users: UserRange | null
  readonly bootMs: number
  /**
   * Number of processes that are kept ready for a cold start, their memory limit and read-only cache, which is also what
   * the caches of versions begin with; absent: none.
   */
  readonly spares?: { readonly count: number; readonly memoryMb: number; readonly cacheDir: string }
  readonly issueKeys: IssueKeys
  readonly onUsage: (version: FunctionVersion, cpuSeconds: number, memoryMb: number) => void
  readonly onLine: (version: FunctionVersion, line: FunctionLine, requestId: string | null) => void
  /** Called with the path of a leftover of an ended instance that could not be removed. */
  readonly onLeft: (path: string, error: unknown) => void
}

const PREFIX = 'terrane-fn-'

/** Makes instances: a folder for the sockets, the door to the host, the process, and the removal of all three. */
export class InstanceFactory implements AsyncDisposable {
  readonly runtime: Runtime
  readonly #options: FactoryOptions
  /** Folder of this host's sockets and of other files that are removed with it. */
  readonly base: string
  readonly #meter = createMeter()
  readonly #users: number[] = []
  readonly #running = new Set<Instance>()
  /** Processes that wait for a version. */
  readonly spares: Spares
  #count = 0

  /**
   * Creates the folder of this host's sockets: private, and with a short path, because a socket's path has at most 107
   * bytes.
   */
  static async open(options: FactoryOptions): Promise<InstanceFactory> {
    await sweepLeftovers()
    const base = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`))
    // Instance users must be able to traverse it. Each folder inside belongs to one of them.
    if (options.users) await chmod(base, 0o711)
    return new InstanceFactory(options, base)
  }

  private constructor(options: FactoryOptions, base: string) {
    this.#options = options
    this.runtime = options.runtime
    this.base = base
    if (options.users) {
      for (let i = options.users.count - 1; i >= 0; i--) this.#users.push(options.users.first + i)
    }
    this.spares = new Spares({
      ...(options.spares ?? { count: 0, memoryMb: 0 }),
      start: () => this.#startSpare(),
      remove: (place) => this.#free(place),
    })
    process.once('exit', this.#killAll)
  }

  /**
   * Starts a process for a version, or takes one that waits; await its `ready`.
   *
   * @param isCheck true for a run that answers no requests
   */
  async start(version: FunctionVersion, isCheck: boolean): Promise<Instance> {
    const keys = await this.#options.issueKeys(version)
    await using held = new AsyncDisposableStack()
    const spare = isCheck ? null : await this.spares.take(version)
    const place = spare?.place ?? (await this.#claimPlace())
    held.defer(() => (spare ? this.spares.end(spare) : this.#free(place)))
    const { runDir, uid } = place
    let instance: Instance | null = null
    const paths = { gateway: join(runDir, GATEWAY), sockets: join(runDir, SOCKETS) }
    held.use(await this.#options.door.open(paths, version, () => instance))
    if (uid !== null) {
      await Promise.all([runDir, ...Object.values(paths)].map((path) => chown(path, uid, uid)))
      // A different user may have filled it before.
      if (!version.sealed) await claimFolder(version.cacheDir, { uid, fileMode: 0o644, folderMode: 0o755 })
    }
    const { policy } = version
    const command = spare?.command ?? this.runtime.command({ ...launchOf(version, isCheck), runDir, uid })
    const started = new Instance({
      id: `${version.name}.${version.version}.${basename(runDir)}`,
      name: version.name,
      command,
      process: spare?.process ?? new RuntimeProcess(command),
      ingress: join(runDir, INGRESS),
      env: { ...version.env, ...keys.env },
      bindings: policy.bindings,
      queue: policy.queue,
      serviceToken: keys.serviceToken,
      renewMs: Math.max(0, KEYS_SECONDS * 1000 - policy.timeout_ms),
      // A function may connect to the database that its environment names.
      reach: version.env['TERRANE_DB_URL'] === undefined ? policy.net : [...policy.net, DATABASE_TARGET],
      memoryMb: policy.memory_mb,
      tmpMb: policy.tmp_mb,
      blockMs: policy.block_ms,
      timeoutMs: policy.timeout_ms,
      bootMs: this.#options.bootMs,
      meter: this.#meter,
      onUsage: (cpuSeconds, memoryMb) => this.#options.onUsage(version, cpuSeconds, memoryMb),
      onLine: (line, requestId) => this.#options.onLine(version, line, requestId),
    })
    instance = started
    this.#running.add(started)
    void this.#cleanUp(started, runDir, held.move())
    return started
  }

  /**
   * Makes the cache of a version, with the compiled code of the shim where this host has it. Returns whether it has, so
   * that its databases are complete.
   */
  async makeCache(cacheDir: string): Promise<boolean> {
    const { spares } = this.#options
    if (spares) {
      await cp(spares.cacheDir, cacheDir, { recursive: true })
      await claimFolder(cacheDir, { fileMode: 0o644, folderMode: 0o755 })
      return true
    }
    await mkdir(cacheDir, { mode: 0o755 })
    // Deno's storage APIs need a folder of this name, so a file in its place disables them.
    await writeFile(join(cacheDir, 'location_data'), '')
    return false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#killAll)
    const ends = [...this.#running].map((instance) => instance.exited)
    this.#killAll()
    await Promise.all([...ends, this.spares.close()])
    await rm(this.base, { recursive: true, force: true })
  }

  /** Makes the folder of an instance and takes a user for it. @throws Error when every user is taken */
  async #claimPlace(): Promise<Place> {
    const uid = this.#users.pop() ?? null
    if (this.#options.users && uid === null) throw new Error('every user id of the range is in use')
    const runDir = join(this.base, String(++this.#count))
    const place = { runDir, codeDir: `${runDir}.code`, uid }
    await using unused = new AsyncDisposableStack()
    unused.defer(() => this.#free(place))
    await mkdir(runDir, { mode: 0o700 })
    unused.move()
    return place
  }

  /** Starts a process for {@link Spares}; null when every user is taken. */
  async #startSpare(): Promise<Spare | null> {
    if (this.#options.users && this.#users.length === 0) return null
    await using unused = new AsyncDisposableStack()
    const place = await this.#claimPlace()
    unused.defer(() => this.#free(place))
    const { codeDir, runDir, uid } = place
    await mkdir(codeDir, { mode: 0o755 })
    if (uid !== null) await chown(runDir, uid, uid)
    const { memoryMb, cacheDir } = this.#options.spares!
    const command = this.runtime.command({ codeDir, cacheDir, cache: 'sealed', runDir, memoryMb, uid })
    const process = new RuntimeProcess(command)
    await process.started
    unused.move()
    return { place, command, process }
  }

  /** Removes what an instance held once it has ended. Never rejects. */
  async #cleanUp(instance: Instance, runDir: string, held: AsyncDisposable): Promise<void> {
    await instance.exited
    this.#running.delete(instance)
    try {
      await held[Symbol.asyncDispose]()
    } catch (error) {
      this.#options.onLeft(runDir, error)
    }
  }

  /** Removes the folders of a process that has ended, and frees its user. Never rejects. */
  async #free({ runDir, codeDir, uid }: Place): Promise<void> {
    try {
      for (const folder of [runDir, codeDir]) await rm(folder, { recursive: true, force: true })
      // A user is reused only after its files are removed.
      if (uid !== null) this.#users.push(uid)
    } catch (error) {
      this.#options.onLeft(runDir, error)
    }
  }

  readonly #killAll = (): void => {
    this.spares.kill()
    for (const instance of this.#running) instance.kill('stopped')
  }
}

/** The confinement of a version's own process. */
function launchOf({ codeDir, cacheDir, sealed, policy }: FunctionVersion, isCheck: boolean) {
  const cache = isCheck ? 'filling' : sealed ? 'sealed' : 'open'
  return { codeDir, cacheDir, cache, memoryMb: policy.memory_mb } as const
}

/** Removes the socket folders of hosts that were killed; their processes died with them. */
async function sweepLeftovers(): Promise<void> {
  const base = tmpdir()
  for (const name of await readdir(base)) {
    if (!name.startsWith(PREFIX)) continue
    const pid = Number.parseInt(name.slice(PREFIX.length), 10)
    if (pid > 0 && isRunning(pid)) continue
    await rm(join(base, name), { recursive: true, force: true }).catch(() => {})
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
