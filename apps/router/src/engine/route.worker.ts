import { parentPort, workerData } from 'node:worker_threads'
import { openShared, Router, type Network } from '@terrane/routing'
import { Desk, type WorkOrder } from './desk.ts'
import type { ThreadAnswer, ThreadData } from './thread.ts'

const WARM_UP_ROUTES = 10

// Answers routes one after the other, and slow requests in between; the threads share the graph.
const port = parentPort!
const { shared, limits, costings, search, actions, builtAt, timeoutMs } = workerData as ThreadData
const network = await openShared(shared)
const router = new Router(network, {
  limits,
  costings,
  search,
  actions,
  ...(builtAt !== null && { builtAt: new Date(builtAt) }),
})
const desk = new Desk(router, (news) => port.postMessage(news), timeoutMs)
warmUp(network)
port.on('message', (order: string | WorkOrder) => {
  if (typeof order === 'string') port.postMessage(answer(order))
  else desk.take(order)
})
port.postMessage('ready')

function answer(text: string): ThreadAnswer {
  try {
    return router.answer(text)
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

/** Computes routes before the first request, which would otherwise compile code and allocate memory. */
function warmUp({ graph }: Network): void {
  const place = (node: number) => ({ lon: graph.nodeLon[node]! / 1e7, lat: graph.nodeLat[node]! / 1e7 })
  for (let i = 0; i < WARM_UP_ROUTES; i++) {
    const [from, to] = [i * 7919, i * 104_729 + 31].map((step) => place(step % graph.nodeCount))
    for (const costing of ['auto', 'bicycle', 'pedestrian']) answer(JSON.stringify({ locations: [from, to], costing }))
  }
}
