import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'

import { createCosting } from '../src/cost/create.ts'
import { costOptions } from '../src/cost/options.ts'
import { type Mode, type Network, Router, type RouteResponse } from '../src/index.ts'
import { hierarchySearch } from '../src/search/cch/hierarchy.ts'
import { ngraphSearch } from '../src/search/ngraph.ts'
import { StateWeights } from '../src/states/weights.ts'
import { quantile } from '../test/support/compare.ts'
import { buildExtract, findExtracts } from './support/extracts.ts'
import { type BenchRequest, randomRequests } from './support/requests.ts'
import { openValhalla, type Valhalla } from './support/valhalla.ts'

// From request text to response text on one thread, with instructions: Terrane and Valhalla alternate on the same
// pairs. Then the search alone, compared with NBA* of ngraph.path on the same states.
// `node speed.bench.ts milan porto --count 300 --modes auto,bicycle,pedestrian`
const { values, positionals } = parseArgs({
  options: { count: { type: 'string' }, modes: { type: 'string' }, rounds: { type: 'string' } },
  allowPositionals: true,
})
const count = Number(values.count ?? 200)
const rounds = Number(values.rounds ?? 3)
const modes = (values.modes?.split(',') ?? ['auto', 'bicycle', 'pedestrian']) as Mode[]

for (const extract of findExtracts(positionals.length > 0 ? positionals : ['milan', 'porto'])) {
  const network = await buildExtract(extract)
  const valhalla = openValhalla(extract)
  const router = new Router(network)
  for (const mode of modes) {
    const requests = randomRequests(network, [mode], count * 4, 7)
      .filter(({ kind }) => kind === 'plain')
      .slice(0, count)
    await compareAnswers(router, valhalla, requests)
    compareSearches(network, mode)
  }
  await router.close()
}

async function compareAnswers(
  router: Router,
  valhalla: Valhalla | null,
  requests: readonly BenchRequest[],
): Promise<void> {
  const mine: number[][] = requests.map(() => [])
  const theirs: number[][] = requests.map(() => [])
  let found = 0
  for (let round = 0; round < rounds; round++) {
    for (const [i, { text }] of requests.entries()) {
      const started = performance.now()
      const { status, body } = router.answer(text)
      mine[i]!.push(performance.now() - started)
      if (status === 200) found++
      if (valhalla === null) continue
      const began = performance.now()
      const answer = await valhalla.route(text).catch(() => null)
      theirs[i]!.push(performance.now() - began)
      if (answer === null || status !== 200) continue
      const [{ trip }, other] = [JSON.parse(body) as RouteResponse, JSON.parse(answer) as RouteResponse]
      assert.equal(trip.legs.length, other.trip.legs.length)
    }
  }
  const line = (times: readonly number[][]): string =>
    `p50 ${quantile(best(times), 0.5).toFixed(2)} ms, p95 ${quantile(best(times), 0.95).toFixed(2)} ms, ` +
    `${(1000 / meanOf(best(times))).toFixed(0)}/s`
  console.log(`${requests[0]!.mode}: ${found / rounds} of ${requests.length} found; Terrane ${line(mine)}`)
  if (valhalla === null) return
  const ratio = meanOf(best(theirs)) / meanOf(best(mine))
  const middle = quantile(best(theirs), 0.5) / quantile(best(mine), 0.5)
  console.log(`  Valhalla ${line(theirs)}; RATIO of throughput ${ratio.toFixed(1)}, of p50 ${middle.toFixed(1)}`)
}

function compareSearches({ graph, turns, metrics }: Network, mode: Mode): void {
  const costing = createCosting(graph, mode, costOptions(mode))
  const { states, reverse, topology, hierarchyScratch } = turns
  const search = hierarchySearch(metrics[mode].metric, topology, hierarchyScratch)
  const step = Math.floor(states.vertexCount / (count + 1))
  const pairs = Array.from({ length: count }, (_, i): [number, number] => [
    (i + 1) * step,
    ((i * 7919 + 13) % count) * step,
  ])
  const find = (engine: typeof search, [from, to]: [number, number]): number | undefined =>
    engine.find([{ vertex: from, cost: 0 }], [{ vertex: to, cost: 0 }])?.cost
  const microseconds = pairs.map((pair) => {
    const times = [0, 1, 2].map(() => {
      const started = performance.now()
      find(search, pair)
      return (performance.now() - started) * 1000
    })
    return Math.min(...times)
  })
  console.log(
    `  search alone p50 ${quantile(microseconds, 0.5).toFixed(0)} µs, p95 ${quantile(microseconds, 0.95).toFixed(0)} µs`,
  )
  if (mode !== 'auto') return
  const weights = new StateWeights(graph, states, costing).all()
  const peer = ngraphSearch(states, reverse, (arc) => weights[arc]!)
  const sample = pairs.slice(0, 20)
  const slow = sample.map((pair) => {
    const started = performance.now()
    const cost = find({ ...search, ...peer }, pair)
    const taken = (performance.now() - started) * 1000
    assert.equal(cost, find(search, pair))
    return taken
  })
  const ratio = quantile(slow, 0.5) / quantile(microseconds, 0.5)
  console.log(`  ngraph.path NBA* p50 ${(quantile(slow, 0.5) / 1000).toFixed(1)} ms; RATIO ${ratio.toFixed(0)}`)
}

/** The best of the rounds, to exclude other load on the machine. */
function best(times: readonly number[][]): number[] {
  return times.map((list) => Math.min(...list))
}

function meanOf(list: readonly number[]): number {
  return list.reduce((sum, value) => sum + value, 0) / list.length
}
