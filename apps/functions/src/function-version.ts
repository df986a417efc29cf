import type { Policy } from './policy.ts'

/** One immutable version of a function, with its files on this machine. */
export interface FunctionVersion {
  readonly project: string
  readonly name: string
  /** 1, 2, … in a registry; 0 for a folder that is watched. */
  readonly version: number
  /** SHA-256 of code, files and policy, in hex. */
  readonly digest: string
  readonly policy: Policy
  /** Folder with `index.mjs` and the static files. */
  readonly codeDir: string
  /** Static files, relative to `codeDir`. */
  readonly files: readonly string[]
  /** Compiled code of this version. */
  readonly cacheDir: string
  /** True when a check run has filled the cache; then it is read-only. */
  readonly sealed: boolean
  /** The variables that the function sees, secrets among them. */
  readonly env: Readonly<Record<string, string>>
}
