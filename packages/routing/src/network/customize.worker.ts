import { serveThread } from '@terrane/core/threads'

import { createCosting } from '../cost/create.ts'
import type { CostOptions, Mode } from '../cost/options.ts'
import type { HierarchyMetric } from '../search/cch/metric.ts'
import { customizeFor } from './network.ts'
import { openShared, type SharedNetwork } from './share.ts'

/** Request to the worker. */
export interface CustomizeTask {
  readonly key: string
  readonly mode: Mode
  readonly options: CostOptions
}

/** Answer of the worker. */
export interface CustomizeAnswer extends Pick<HierarchyMetric, 'up' | 'down'> {
  readonly leastWeight: number
}

/** Methods of the thread. */
export interface CustomizeMethods {
  customize(task: CustomizeTask): CustomizeAnswer
}

serveThread<SharedNetwork, CustomizeMethods>(async (shared) => {
  const network = await openShared(shared)
  return {
    customize: ({ mode, options }, transfer) => {
      const costing = createCosting(network.graph, mode, options)
      const { metric, leastWeight } = customizeFor(network.graph, network.turns, costing)
      const { up, down } = metric
      // The receiver already has the topology, so it is not sent. Both directions share a pool.
      transfer.push(...[up.index, down.index, up.pool.words].map((array) => array.buffer as ArrayBuffer))
      return { up, down, leastWeight }
    },
  }
})
