import { readTableEntry } from '@terrane/contracts/events'
import type { Builder } from '../build/builder.ts'
import { FILES } from '@terrane/bundler'
import { pickStatic } from '../build/static-files.ts'
import { environmentOf } from '../environment.ts'
import { bootFailed, deployConflict, invalidPolicy, versionNotFound } from '../errors.ts'
import { digestOf, type Archive } from '../build/archive.ts'
import { BootFailure } from '../pool/exit.ts'
import { hasTable } from '../egress/tables.ts'
import { moveState } from '../egress/state.ts'
import { withCrons } from '../crons.ts'
import { clampPolicy, parsePolicy, type Ceilings, type Policy } from '../policy.ts'
import type { Projects } from '../projects/project.ts'
import type { Archives } from '../registry/archives.ts'
import type { LiveRecord, Registry } from '../registry/registry.ts'
import type { RegistrySource } from '../sources/registry-source.ts'
import type { VersionStore } from '../version-store.ts'

export interface Upload {
  /** Paths relative to the function's folder. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** The contents of `function.json`. */
  readonly policy: unknown
}

export interface DeployOptions {
  /** The etag that must be live; absent: the version that is live when the deploy begins. */
  readonly ifMatch?: string
  /** Check everything and change nothing. */
  readonly dryRun?: boolean
  readonly by: string
}

export interface Deployed {
  /** Null for a dry run. */
  readonly version: number | null
  readonly digest: string
  readonly etag: string | null
  /** True when this content and policy were live already. */
  readonly unchanged: boolean
}

/** Turns uploads into versions, and makes versions live. */
export class Deployer {
  readonly #registry: Registry
  readonly #archives: Archives
  readonly #projects: Projects
  readonly #store: VersionStore
  readonly #builder: Builder
  readonly #source: RegistrySource
  readonly #ceilings: Ceilings
  readonly #keepVersions: number

  constructor(parts: {
    readonly registry: Registry
    readonly archives: Archives
    readonly projects: Projects
    readonly store: VersionStore
    readonly builder: Builder
    readonly source: RegistrySource
    readonly ceilings: Ceilings
    readonly keepVersions: number
  }) {
    this.#registry = parts.registry
    this.#archives = parts.archives
    this.#projects = parts.projects
    this.#store = parts.store
    this.#builder = parts.builder
    this.#source = parts.source
    this.#ceilings = parts.ceilings
    this.#keepVersions = parts.keepVersions
  }

  /**
   * Bundles, starts once, records and promotes a version. The live version is not touched until the last step, and that
   * step fails if another deploy was faster.
   *
   * @throws FUNCTION_POLICY_INVALID, FUNCTION_BUNDLE_FAILED, FUNCTION_BUILD_LIMIT, FUNCTION_SECRETS_MISSING, FUNCTION_SECRET_OUTDATED,
   * FUNCTION_BOOT_FAILED, FUNCTION_DEPLOY_CONFLICT
   */
  async deploy(project: string, name: string, upload: Upload, options: DeployOptions): Promise<Deployed> {
    const live = await this.#registry.live(project, name)
    if (options.ifMatch !== undefined && options.ifMatch !== live?.etag) throw deployConflict({ name })
    const given = parsePolicy(upload.policy)
    const { code } = await this.#builder.bundleFiles(project, upload.files)
    const archive = { code, files: pickStatic(upload.files, withFilesBeside(given.static, upload.files)) }
    const { digest, crons } = await this.#check(project, name, archive, given)
    const policy = withCrons(given, crons)
    await this.#requireTables(project, policy)
    // A version from before a field existed gets the field's default.
    const before = live && { ...parsePolicy({}), ...live.policy }
    if (live?.digest === digest && JSON.stringify(before) === JSON.stringify(sorted(policy, before!)))
      return { version: live.version, digest, etag: live.etag, unchanged: true }
    if (options.dryRun) return { version: null, digest, etag: live?.etag ?? null, unchanged: false }
    const { bytes } = await this.#archives.put(project, archive)
    const version = await this.#registry.addVersion(project, name, { digest, bytes, policy, createdBy: options.by })
    const etag = await this.#promote(project, name, version, live)
    await this.prune(project, name, this.#keepVersions)
    return { version, digest, etag, unchanged: false }
  }

  /**
   * Makes an earlier version live again: the given one, or the one before the live one.
   *
   * @throws FUNCTION_VERSION_NOT_FOUND, FUNCTION_DEPLOY_CONFLICT
   */
  async rollback(project: string, name: string, wanted: number | null): Promise<{ version: number; etag: string }> {
    const live = await this.#registry.live(project, name)
    if (!live) throw versionNotFound({ name, version: wanted })
    const versions = await this.#registry.versions(project, name)
    const target = versions.find(({ version }) => (wanted === null ? version < live.version : version === wanted))
    if (!target) throw versionNotFound({ name, version: wanted })
    return { version: target.version, etag: await this.#promote(project, name, target.version, live) }
  }

  /**
   * Removes a function with its versions, secrets, archives and state; false when it does not exist.
   *
   * @throws FUNCTION_STATE_STAYS when the project's database is not available; a second call then removes the state
   * only
   */
  async remove(project: string, name: string): Promise<boolean> {
    const removed = await this.#registry.remove(project, name)
    await this.#source.look()
    await this.#archives.remove(project, removed?.unused ?? [])
    const address = this.#projects.get(project)
    // A function of the same name starts without it.
    if (address) await moveState(address, name, { operation: 'remove' })
    return removed !== null
  }

  /**
   * Gives a function another name, with its versions, secrets, hooks and state; false when there is none.
   *
   * @throws FUNCTION_NAME_TAKEN, FUNCTION_STATE_STAYS; the function then keeps its former name
   */
  async rename(project: string, name: string, to: string): Promise<boolean> {
    // The registry is changed first, because it decides between two concurrent renames: a state that moved before could
    // become another function's.
    if (!(await this.#registry.rename(project, name, to))) return false
    const address = this.#projects.get(project)
    try {
      if (address) await moveState(address, name, { operation: 'rename', to })
    } catch (error) {
      // A rename of the state without an answer may have succeeded, so it is reverted as well.
      if (address) await moveState(address, to, { operation: 'rename', to: name }).catch(() => {})
      await this.#registry.rename(project, to, name)
      await this.#source.follow(project, name)
      throw error
    }
    await this.#source.follow(project, to)
    return true
  }

  /** Deletes old versions. Returns how many. */
  async prune(project: string, name: string, keep: number): Promise<number> {
    const { removed, unused } = await this.#registry.prune(project, name, keep)
    await this.#archives.remove(project, unused)
    return removed
  }

  /**
   * Refuses hooks of tables that the project's API reports as missing; without an answer of the API none is refused.
   */
  async #requireTables(project: string, { tables }: Policy): Promise<void> {
    const address = this.#projects.get(project)
    if (!address || address.serviceKey === null) return
    const names = new Set(tables.map((entry) => readTableEntry(entry).table))
    const missing = await Promise.all([...names].map(async (name) => ((await hasTable(address, name)) ? [] : [name])))
    const errors = missing
      .flat()
      .map((name) => ({ path: '/tables', message: `names ${name}: there is no such table in schema public` }))
    if (errors.length > 0) throw invalidPolicy({ errors })
  }

  async #promote(project: string, name: string, version: number, live: LiveRecord | null): Promise<string> {
    const etag = await this.#registry.promote(project, name, version, live?.etag ?? null)
    if (etag === null) throw deployConflict({ name })
    await this.#source.follow(project, name)
    return etag
  }

  /** Starts the version once, under the same confinement as in service. Returns its digest, and the crons that it sets up. */
  async #check(
    project: string,
    name: string,
    archive: Archive,
    given: Policy,
  ): Promise<{ digest: string; crons: readonly string[] }> {
    const policy = clampPolicy(given, this.#ceilings)
    const secrets = {
      project: await this.#registry.secrets(project, ''),
      own: await this.#registry.secrets(project, name),
    }
    const env = environmentOf(this.#projects.get(project), policy, secrets)
    const digest = digestOf(archive)
    const crons = await this.#store.use({ project, name }, digest, async () => {
      const version = await this.#store.add(archive, { project, name, version: 0, policy, env })
      try {
        return await this.#store.prove(version)
      } catch (error) {
        if (!version.sealed) await this.#store.reject(version)
        if (error instanceof BootFailure) throw bootFailed({ reason: error.message, detail: error.detail })
        throw error
      }
    })
    return { digest, crons }
  }
}

/** Files that come with a bundle need no entry in the policy. */
function withFilesBeside(patterns: readonly string[], files: ReadonlyMap<string, Uint8Array>): string[] {
  return [...patterns, ...[...files.keys()].filter((path) => path.startsWith(`${FILES}/`))]
}

/** The policy with its keys in the order of another one, because the database keeps its own order. */
function sorted(policy: Policy, like: Policy): Partial<Policy> {
  return Object.fromEntries((Object.keys(like) as (keyof Policy)[]).map((key) => [key, policy[key]]))
}
