/** Settings for the start of one instance. Paths are the host's. */
export interface Launch {
  /** Folder with the bundle and its static files; the function can read these and nothing else. */
  readonly codeDir: string
  /** The runtime's own cache of compiled code for this version. */
  readonly cacheDir: string
  /**
   * `filling`: a run whose only purpose is to compile and to prove that the version starts. `sealed`: the cache is
   * read-only and the process cannot write files at all. `open`: serves while it fills, for a folder that is edited.
   */
  readonly cache: 'filling' | 'sealed' | 'open'
  /** Folder of this instance only, with its sockets. */
  readonly runDir: string
  readonly memoryMb: number
  /** User and group the process runs as; the host's own when null. */
  readonly uid: number | null
}

/** A process to spawn, and the paths as it will see them. */
export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Folder that the process starts in, as the host sees it. */
  readonly cwd: string
  readonly bundle: string
  readonly ingress: string
  readonly gateway: string
  readonly sockets: string
  /** The module that keeps `/tmp` in memory. */
  readonly tmp: string
  /** Set when a keeper is spawned that writes the runtime's pid as JSON to descriptor 3. */
  readonly keeper: { /** Data that the keeper reads from descriptor 4. */ readonly filter: Buffer | null } | null
}

/** Level of confinement of an instance; `trusted` is only for trusted code. */
export type Profile = 'standard' | 'hardened' | 'trusted'

/** Builds the command for a launch. Implementations keep no other state than their constructor arguments. */
export interface Runtime {
  readonly name: 'deno' | 'node'
  readonly profile: Profile
  /** Attacks that the profile does not protect against; logged at the start. */
  readonly caveat: string
  command(launch: Launch): Command
}

/** Names inside {@link Launch.codeDir} and {@link Launch.runDir}. */
export const BUNDLE = 'index.mjs'
export const INGRESS = 'in.sock'
export const GATEWAY = 'gw.sock'
export const SOCKETS = 'tcp.sock'
