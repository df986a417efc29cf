import type { FetchPolicy } from '@terrane/service'
import type { GatewayDoor } from '../pool/factory.ts'
import type { Depths } from '../gateway/depth.ts'
import type { DatabaseDoor } from '../database/door.ts'
import type { FunctionVersion } from '../function-version.ts'
import { createDoor, type Outgoing } from './door.ts'
import { carryOutside } from './outside.ts'
import type { ProjectAddress } from './project-address.ts'
import { ProjectApi, type OnRefused } from './project-api.ts'

export interface EgressOptions {
  readonly addressOf: (project: string) => ProjectAddress | null
  readonly depths: Depths
  /** Guards fetches and connections to hosts outside. */
  readonly fetchPolicy: FetchPolicy
  readonly database: DatabaseDoor | null
  readonly onRefused: OnRefused
}

/**
 * Opens the only connections of instances to anything outside: the project's API, its database, and the hosts of the
 * function's policy.
 */
export function createEgress(options: EgressOptions): GatewayDoor & Disposable {
  const refusals = new Refusals()
  const onRefused: OnRefused = (version, text, requestId) => {
    if (refusals.take(version)) options.onRefused(version, text, requestId)
  }
  const projectApi = new ProjectApi(options.addressOf, options.depths, onRefused)
  const carry = (outgoing: Outgoing) => {
    const path = projectApi.pathOf(outgoing)
    if (path !== null) projectApi.carry(outgoing, path)
    else {
      const { version, call } = outgoing
      void carryOutside(outgoing, options.fetchPolicy, (text) => onRefused(version, text, call?.requestId ?? null))
    }
  }
  const door = createDoor(carry, {
    policy: options.fetchPolicy,
    database: options.database,
    onRefused: (version, text) => onRefused(version, text, null),
  })
  return {
    open: (paths, version, instance) => door.open(paths, version, instance),
    [Symbol.dispose]() {
      door[Symbol.dispose]()
      projectApi[Symbol.dispose]()
    },
  }
}

/** Burst of logged refusals per version; after it, one more is logged per second. */
const REFUSALS_TOLD = 50

/** Limits the log lines about a function's refused requests. */
class Refusals {
  readonly #left = new WeakMap<FunctionVersion, { tokens: number; at: number }>()

  take(version: FunctionVersion): boolean {
    const now = performance.now()
    const { tokens, at } = this.#left.get(version) ?? { tokens: REFUSALS_TOLD, at: now }
    const left = Math.min(REFUSALS_TOLD, tokens + (now - at) / 1000)
    this.#left.set(version, { tokens: Math.max(0, left - 1), at: now })
    return left >= 1
  }
}
