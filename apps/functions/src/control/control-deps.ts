import type { RateLimits } from '@terrane/service'
import { registryMissing } from '../errors.ts'
import type { TypeCheck } from '@terrane/bundler'
import type { Functions } from '../functions.ts'
import type { LogBook } from '../observe/log-book.ts'
import type { FunctionMetrics } from '../observe/metrics.ts'
import type { Projects } from '../projects/project.ts'
import type { Registry } from '../registry/registry.ts'
import type { RegistrySource } from '../sources/registry-source.ts'
import type { Deployer } from './deployer.ts'

/** Parts that only a host with a registry has. */
export interface Deployed {
  readonly registry: Registry
  readonly deployer: Deployer
  readonly source: RegistrySource
}

export interface ControlDeps {
  readonly projects: Projects
  readonly limits: RateLimits
  readonly functions: Functions
  readonly logBook: LogBook
  readonly metrics: FunctionMetrics
  /** Type errors of a function in the watched folder. */
  readonly typesOf: (name: string) => TypeCheck | null
  /** Null on a host without a database. */
  readonly deployed: Deployed | null
}

/** @throws FUNCTION_REGISTRY_MISSING */
export function needRegistry(deps: ControlDeps): Deployed {
  if (!deps.deployed) throw registryMissing()
  return deps.deployed
}
