/** What one instance is made of. Paths are the host's. */
export interface Launch {
  /** Folder with `index.mjs` and the static files; the function can read these and nothing else. */
  readonly codeDir: string
  /** Static files, relative to `codeDir`. */
  readonly files: readonly string[]
  /** The runtime's own cache of compiled code for this version. */
  readonly cacheDir: string
  /**
   * `filling`: a run whose only purpose is to compile and to prove that the version starts. `sealed`: the cache is
   * read-only and the process cannot write files at all. `open`: serves while it fills, for a folder that is edited.
   */
  readonly cache: 'filling' | 'sealed' | 'open'
  /** Folder of this instance alone: its sockets. */
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
  readonly bundle: string
  readonly ingress: string
  readonly gateway: string
  readonly sockets: string
  /** The module that keeps `/tmp` in memory. */
  readonly tmp: string
  /** Set when a keeper is spawned that writes the runtime's pid as JSON to descriptor 3. */
  readonly keeper: { /** What the keeper reads from descriptor 4. */ readonly filter: Buffer | null } | null
}

/** How strictly an instance is confined. `trusted` means: hardly. */
export type Profile = 'standard' | 'hardened' | 'trusted'

/** Turns a launch into a process. Implementations hold no state beside what they were made with. */
export interface Runtime {
  readonly name: 'deno' | 'node'
  readonly profile: Profile
  /** What the profile does not protect against, for the log at start. */
  readonly caveat: string
  command(launch: Launch): Command
}

/** Names inside {@link Launch.codeDir} and {@link Launch.runDir}. */
export const BUNDLE = 'index.mjs'
export const INGRESS = 'in.sock'
export const GATEWAY = 'gw.sock'
export const SOCKETS = 'tcp.sock'
