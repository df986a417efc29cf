import type { FetchPolicy } from '@terrane/service'
import type { GatewayDoor } from '../pool/factory.ts'
import type { Depths } from '../gateway/depth.ts'
import { createDoor } from './door.ts'
import { carryOutside } from './outside.ts'
import { PROJECT_HOST, ProjectApi, type ProjectAddress } from './project-api.ts'

export interface EgressOptions {
  readonly addressOf: (project: string) => ProjectAddress | null
  readonly depths: Depths
  /** Guards fetches to hosts outside. */
  readonly fetchPolicy: FetchPolicy
}

/** The way out of the box: to the project's API, and to the hosts that a function's policy names. There is no other. */
export function createEgress(options: EgressOptions): GatewayDoor & Disposable {
  const projectApi = new ProjectApi(options.addressOf, options.depths)
  const door = createDoor((outgoing) => {
    if (outgoing.target.hostname === PROJECT_HOST) projectApi.carry(outgoing)
    else void carryOutside(outgoing, options.fetchPolicy)
  })
  return {
    open: (path, version, instance) => door.open(path, version, instance),
    [Symbol.dispose]() {
      door[Symbol.dispose]()
      projectApi[Symbol.dispose]()
    },
  }
}
