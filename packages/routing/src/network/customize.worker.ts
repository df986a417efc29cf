import { parentPort, workerData } from 'node:worker_threads'

import { createCosting } from '../cost/create.ts'
import type { CostOptions, Mode } from '../cost/options.ts'
import { openSections } from '../graph/sections.ts'
import { customizeFor, openNetwork } from './network.ts'

/** What the worker is asked for. */
export interface CustomizeTask {
  readonly key: string
  readonly mode: Mode
  readonly options: CostOptions
}

const network = openNetwork(openSections((workerData as { buffer: SharedArrayBuffer }).buffer))

parentPort!.on('message', ({ key, mode, options }: CustomizeTask) => {
  const costing = createCosting(network.graph, mode, options)
  const { metric, leastWeight } = customizeFor(network.graph, network.families[costing.family], costing)
  const { up, down } = metric
  const owned = [
    metric.parent,
    up.first,
    up.head,
    up.weight,
    up.middle,
    down.first,
    down.head,
    down.weight,
    down.middle,
  ]
  parentPort!.postMessage(
    { key, metric, leastWeight },
    owned.map((array) => array.buffer as ArrayBuffer),
  )
})
