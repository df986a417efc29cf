import { chmod, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { digestOf, type Archive } from './build/archive.ts'
import type { FunctionVersion } from './function-version.ts'
import type { Functions } from './functions.ts'
import { claimFolder } from './ownership.ts'
import type { InstanceFactory } from './pool/factory.ts'
import type { Policy } from './policy.ts'

export interface VersionFacts {
  readonly project: string
  readonly name: string
  readonly version: number
  readonly policy: Policy
  readonly env: Readonly<Record<string, string>>
}

/** Identifies the function of a version. */
type FunctionKey = Pick<VersionFacts, 'project' | 'name'>

/** Names in a version's folder: its code, its static files, and the mark of a filled and sealed cache. */
const CODE = 'code'
const MANIFEST = 'files.json'
const SEALED = 'sealed'

/**
 * The unpacked versions on this machine, by function and content. The code of a version is written once and never
 * changed. Its folder has the same name as the function's, because modules read their own path. Its cache is filled by
 * one run and read-only afterwards.
 */
export class VersionStore implements AsyncDisposable {
  readonly #root: string
  readonly #factory: InstanceFactory
  /** Crons of versions that were just prepared, by their caches. */
  readonly #crons = new Map<string, readonly string[]>()
  /** Versions being prepared; only one run per version, because two would write to the same cache. */
  readonly #preparing = new Map<string, Promise<FunctionVersion>>()
  /** Number of users that need a version's folder, by folder. */
  readonly #held = new Map<string, number>()
  /** Folders that are being removed. */
  readonly #going = new Map<string, Promise<void>>()
  /** Caches that are sealed while this host runs. */
  readonly #closed = new Set<string>()

  readonly #onLeft: (path: string, error: unknown) => void

  /**
   * @param root a folder that only hosts of this user write to
   * @param onLeft called for files that could not be removed
   */
  constructor(root: string, factory: InstanceFactory, onLeft: (path: string, error: unknown) => void = nothing) {
    this.#root = root
    this.#factory = factory
    this.#onLeft = onLeft
  }

  /**
   * Keeps the folder of a version from being removed while it is unpacked, tested and made live, because nothing else
   * refers to it before it is live. Waits for a removal that has begun.
   */
  async use<T>(of: FunctionKey, digest: string, work: () => Promise<T>): Promise<T> {
    const home = this.#home(of, digest)
    while (this.#going.has(home)) await this.#going.get(home)
    this.#held.set(home, (this.#held.get(home) ?? 0) + 1)
    try {
      return await work()
    } finally {
      const left = this.#held.get(home)! - 1
      if (left > 0) this.#held.set(home, left)
      else this.#held.delete(home)
    }
  }

  /** Unpacks a version unless it is unpacked already. */
  async add(archive: Archive, facts: VersionFacts): Promise<FunctionVersion> {
    const digest = digestOf(archive)
    const found = await this.find(digest, facts)
    if (found) return found
    await this.#write(this.#home(facts, digest), facts.name, archive)
    return (await this.find(digest, facts))!
  }

  /** The version with this content, if it is unpacked here. */
  async find(digest: string, facts: VersionFacts): Promise<FunctionVersion | null> {
    const home = this.#home(facts, digest)
    const manifest = await readFile(join(home, MANIFEST), 'utf8').catch(() => null)
    if (manifest === null) return null
    const files = JSON.parse(manifest) as string[]
    const cacheDir = join(home, 'cache')
    const sealed = await exists(join(home, SEALED))
    if (sealed) await this.#seal(cacheDir)
    return { ...facts, digest, codeDir: join(home, CODE, facts.name), files, cacheDir, sealed }
  }

  /**
   * Starts a version once with its current policy and environment, as a check. Returns the crons that it sets up.
   *
   * @throws BootFailure
   */
  async prove(version: FunctionVersion): Promise<readonly string[]> {
    const { cacheDir, sealed } = version
    if (sealed) return this.#run(version)
    const prepared = await this.prepare(version)
    const seen = this.#crons.get(cacheDir)
    this.#crons.delete(cacheDir)
    return seen ?? this.#run(prepared)
  }

  /**
   * Starts a version of a watched folder, if its code may set up crons, and returns them.
   *
   * @throws BootFailure
   */
  async cronsOf(version: FunctionVersion, code: Uint8Array): Promise<readonly string[]> {
    return Buffer.from(code.buffer, code.byteOffset, code.byteLength).includes('cron') ? this.#run(version) : []
  }

  /**
   * Proves that a version starts, fills its cache, and seals it. Does nothing for one that is sealed.
   *
   * @throws BootFailure
   */
  async prepare(version: FunctionVersion): Promise<FunctionVersion> {
    if (version.sealed) return version
    const { cacheDir } = version
    const before = this.#preparing.get(cacheDir)
    const done = (before ?? Promise.resolve()).catch(nothing).then(() => this.#fill(version))
    this.#preparing.set(cacheDir, done)
    try {
      return await done
    } finally {
      if (this.#preparing.get(cacheDir) === done) this.#preparing.delete(cacheDir)
    }
  }

  async #fill(version: FunctionVersion): Promise<FunctionVersion> {
    const { cacheDir } = version
    if (await exists(join(dirname(cacheDir), SEALED))) return { ...version, sealed: true }
    // A host that ended half way may have left a folder without write permission.
    await unseal(cacheDir)
    this.#closed.delete(cacheDir)
    await rm(cacheDir, { recursive: true, force: true })
    const isComplete = await this.#factory.makeCache(cacheDir)
    let crons = await this.#run(version)
    // New databases are complete only after they were opened a second time. Then they can be read without write access.
    if (!isComplete) crons = await this.#run(version)
    this.#crons.set(cacheDir, crons)
    await this.#seal(cacheDir)
    await writeFile(join(dirname(cacheDir), SEALED), '')
    return { ...version, sealed: true }
  }

  /**
   * Removes a version's files once no process uses them, unless a version with equal content is served or being
   * prepared. Never rejects, because no caller waits for it.
   */
  async discard(version: FunctionVersion, functions: Functions): Promise<void> {
    const home = dirname(version.cacheDir)
    try {
      await functions.whenUnused(version)
      for (const live of functions) if (live.version.codeDir === version.codeDir) return
      if (!this.#held.has(home)) await this.#remove(version)
    } catch (error) {
      this.#onLeft(home, error)
    }
  }

  /** Removes a version that `use` holds, when it turned out to be unusable; not while others hold it too. */
  async reject(version: FunctionVersion): Promise<void> {
    if (this.#held.get(dirname(version.cacheDir)) === 1) await this.#remove(version)
  }

  #remove(version: FunctionVersion): Promise<void> {
    const home = dirname(version.cacheDir)
    const gone = (async () => {
      // A folder without its list of files does not count as a version.
      await rm(join(home, MANIFEST), { force: true })
      await unseal(version.cacheDir)
      this.#closed.delete(version.cacheDir)
      await rm(home, { recursive: true, force: true })
    })().finally(() => this.#going.delete(home))
    this.#going.set(home, gone.catch(nothing))
    return gone
  }

  /** Makes the caches writable, so that the folder can be removed when nothing runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const cacheDir of this.#closed) await unseal(cacheDir)
  }

  /** Removes all write permissions, and changes the owner of the files from the instance's user to the host. */
  async #seal(cacheDir: string): Promise<void> {
    if (this.#closed.has(cacheDir)) return
    const isRoot = process.getuid?.() === 0
    await claimFolder(cacheDir, { fileMode: 0o444, folderMode: 0o555, ...(isRoot && { uid: 0 }) })
    this.#closed.add(cacheDir)
  }

  #home({ project, name }: FunctionKey, digest: string): string {
    return join(this.#root, project, name, digest)
  }

  /** Writes to a temporary path and renames, so that no reader sees a partial file. */
  async #write(home: string, name: string, { code, files }: Archive): Promise<void> {
    const draft = `${home}.${process.pid}.${performance.now()}`
    await mkdir(join(draft, 'cache'), { recursive: true, mode: 0o755 })
    await writeFile(join(draft, 'cache', 'location_data'), '')
    for (const [path, bytes] of [['index.mjs', code] as const, ...files]) {
      const file = join(draft, CODE, name, path)
      await mkdir(dirname(file), { recursive: true, mode: 0o755 })
      await writeFile(file, bytes, { mode: 0o444 })
    }
    await writeFile(join(draft, MANIFEST), JSON.stringify([...files.keys()]))
    await rename(draft, home).catch(async (error: NodeJS.ErrnoException) => {
      await rm(draft, { recursive: true, force: true })
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  }

  async #run(version: FunctionVersion): Promise<readonly string[]> {
    const instance = await this.#factory.start(version, true)
    try {
      await instance.ready
      return instance.crons
    } finally {
      instance.kill('stopped')
      await instance.exited
    }
  }
}

/** Restores the owner's write permission, which is necessary for removing the contents of a folder. */
async function unseal(folder: string): Promise<void> {
  await chmod(folder, 0o755).catch(() => {})
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => []))
    if (entry.isDirectory()) await unseal(join(folder, entry.name))
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

function nothing(): void {}
