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

/** The way out of the box: to the project's API, and to the hosts that a function's policy names. There is no other. */
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

/** Rate of logged refusals: so many at once for each version, and one more a second. */
const REFUSALS_TOLD = 50

/** Bounds the lines that a function can write into the host's log by what it may not reach. */
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
