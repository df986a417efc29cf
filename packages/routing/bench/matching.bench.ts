import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'

import { decodeLine, type Line } from '../src/geometry/polyline.ts'
import { type Mode, Router, type Trip } from '../src/index.ts'
import { makeTraces, type MadeTrace, overlap } from '../test/support/traces.ts'
import { buildExtract, findExtracts } from './support/extracts.ts'
import { openValhalla } from './support/valhalla.ts'

// Traces of routes between random crossings, with noise, matched by Terrane and Valhalla in alternating runs, from
// request text to response text: precision, recall, and points per second of CPU.
// `node matching.bench.ts porto --count 12 --noises 5,10,20,30 --intervals 1,5,15,60 --modes auto`
const { values, positionals } = parseArgs({
  options: {
    count: { type: 'string', default: '12' },
    noises: { type: 'string', default: '5,10,20,30' },
    intervals: { type: 'string', default: '1,5,15,30,60' },
    modes: { type: 'string', default: 'auto' },
    seed: { type: 'string', default: '1' },
  },
  allowPositionals: true,
})
const numbers = (text: string): number[] => text.split(',').map(Number)

/** Metres of answers, of routes and of their common part, summed over traces; CPU and points. */
interface Tally {
  found: number
  right: number
  truth: number
  covered: number
  ms: number
  points: number
}
const nothing = (): Tally => ({ found: 0, right: 0, truth: 0, covered: 0, ms: 0, points: 0 })

const behind: string[] = []
for (const extract of findExtracts(positionals.length > 0 ? positionals : ['porto'])) {
  const network = await buildExtract(extract)
  const valhalla = openValhalla(extract)
  const router = new Router(network)
  const answers = [
    (text: string): string => router.answer(text, 'trace_route').body,
    ...(valhalla === null ? [] : [(text: string): Promise<string> => valhalla.traceRoute(text).catch(() => '{}')]),
  ]
  for (const mode of values.modes.split(',') as Mode[]) {
    for (const noise of numbers(values.noises)) {
      const level = answers.map(nothing)
      for (const interval of numbers(values.intervals)) {
        const traces = makeTraces(
          network,
          { mode, interval, noise },
          Number(values.count),
          Number(values.seed) + noise * 100 + interval,
        )
        const tallies = answers.map(nothing)
        for (const trace of traces) {
          for (const [i, answer] of answers.entries()) await judge(trace, mode, answer, tallies[i]!)
        }
        print(`${mode}, ${noise} m, every ${interval} s`, tallies)
        for (const [i, tally] of tallies.entries()) add(level[i]!, tally)
      }
      print(`${mode}, ${noise} m, ALL`, level)
      const [mine, theirs] = level.map(shares)
      if (theirs !== undefined && (mine!.precision < theirs.precision || mine!.recall < theirs.recall))
        behind.push(`${extract.name}, ${mode}, ${noise} m`)
    }
  }
  await router.close()
}
assert.deepEqual(behind, [], 'noise levels at which Valhalla is better')

async function judge(
  { truth, points }: MadeTrace,
  costing: Mode,
  answer: (text: string) => string | Promise<string>,
  tally: Tally,
): Promise<void> {
  const shape = points.map(({ lon, lat, time }) => ({ lon, lat, time }))
  const text = JSON.stringify({ shape, costing, shape_match: 'map_snap', directions_type: 'none' })
  await answer(text)
  const began = process.cpuUsage()
  const body = await answer(text)
  const { user, system } = process.cpuUsage(began)
  const { trip, alternates = [] } = JSON.parse(body) as { trip?: Trip; alternates?: { trip: Trip }[] }
  const trips = trip === undefined ? [] : [trip, ...alternates.map((other) => other.trip)]
  const lines: Line[] = trips.flatMap(({ legs }) => legs.map(({ shape: line }) => decodeLine(line as string, 6)))
  const [mine, theirs] = [overlap(lines, [truth]), overlap([truth], lines)]
  add(tally, {
    found: mine.meters,
    right: mine.along,
    truth: theirs.meters,
    covered: theirs.along,
    ms: (user + system) / 1000,
    points: points.length,
  })
}

function add(sum: Tally, more: Tally): void {
  for (const name of Object.keys(sum) as (keyof Tally)[]) sum[name] += more[name]
}

function shares({ found, right, truth, covered }: Tally): { precision: number; recall: number } {
  return { precision: right / found, recall: covered / truth }
}

function print(title: string, tallies: readonly Tally[]): void {
  const texts = tallies.map((tally, i) => {
    const { precision, recall } = shares(tally)
    const speed = ((1000 * tally.points) / tally.ms).toFixed(0)
    return `${i === 0 ? 'Terrane' : 'Valhalla'} precision ${precision.toFixed(4)}, recall ${recall.toFixed(4)}, ${speed} points/s`
  })
  const [mine, theirs] = tallies.map(({ ms }) => ms)
  console.log(`${title}: ${texts.join('; ')}${theirs === undefined ? '' : `; RATIO ${(theirs / mine!).toFixed(1)}`}`)
}
