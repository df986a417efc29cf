import type { TypeCheck } from '@terrane/bundler'
import type { Builder } from '../build/builder.ts'
import type { LatestFirst } from '../build/latest-first.ts'
import type { FunctionVersion } from '../function-version.ts'
import type { Functions } from '../functions.ts'
import type { Ceilings } from '../policy.ts'
import type { Project } from '../projects/project.ts'
import type { ServedFunctions } from '../registry/served-functions.ts'
import type { VersionStore } from '../version-store.ts'
import type { FolderWatcher } from './watcher.ts'

/** Settings and parts of a host that serves a folder of functions. */
export interface FolderOptions {
  /** Folder with one folder per function, `_shared`, and `.env`. */
  readonly root: string
  readonly project: Project
  readonly ceilings: Ceilings
  readonly functions: Functions
  readonly store: VersionStore
  readonly builder: Builder
  readonly events: FolderEvents
  /** Record of functions for the platform's own calls; null without a control plane. */
  readonly served: ServedFunctions | null
  /** Whether the types of a version are checked after it is served. */
  readonly hasTypes: boolean
}

/** Events of the functions of a folder, for the log. */
export interface FolderEvents {
  built(version: FunctionVersion, ms: number): void
  failed(name: string, error: unknown): void
  /** Variables of `.env` files that a new version does not get. */
  ignored(name: string, variables: readonly string[]): void
  /** The type check of the served version has run. */
  types(version: FunctionVersion, check: TypeCheck): void
}

/** Dependencies shared by the folders of one source. */
export interface FolderContext extends FolderOptions {
  readonly watcher: FolderWatcher
  /** Queue of the work on folders. */
  readonly line: LatestFirst
  readonly isClosed: () => boolean
}
