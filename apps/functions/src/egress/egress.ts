import type { FetchPolicy } from '@terrane/service'
import type { GatewayDoor } from '../pool/factory.ts'
import type { Depths } from '../gateway/depth.ts'
import type { DatabaseDoor } from '../database/door.ts'
import type { FunctionVersion } from '../function-version.ts'
import { createDoor, type Outgoing } from './door.ts'
import { carryOutside } from './outside.ts'
import { ProjectApi, type ProjectAddress } from './project-api.ts'

export interface EgressOptions {
  readonly addressOf: (project: string) => ProjectAddress | null
  readonly depths: Depths
  /** Guards fetches and connections to hosts outside. */
  readonly fetchPolicy: FetchPolicy
  readonly database: DatabaseDoor | null
  /** Called with the reason why a connection to an outside host was refused. */
  readonly onRefused: (version: FunctionVersion, text: string) => void
}

/** The way out of the box: to the project's API, and to the hosts that a function's policy names. There is no other. */
export function createEgress(options: EgressOptions): GatewayDoor & Disposable {
  const projectApi = new ProjectApi(options.addressOf, options.depths)
  const carry = (outgoing: Outgoing) => {
    const path = projectApi.pathOf(outgoing)
    if (path !== null) projectApi.carry(outgoing, path)
    else void carryOutside(outgoing, options.fetchPolicy)
  }
  const door = createDoor(carry, {
    policy: options.fetchPolicy,
    database: options.database,
    onRefused: options.onRefused,
  })
  return {
    open: (paths, version, instance) => door.open(paths, version, instance),
    [Symbol.dispose]() {
      door[Symbol.dispose]()
      projectApi[Symbol.dispose]()
    },
  }
}
