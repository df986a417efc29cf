// Duration of requests that are made to be slow, on an idle server and beside 10 connections that request routes.
//   hostile.bench.ts [extract.osm.pbf | -]
import { quantile, startRouter } from './harness.ts'

const [extract = '-'] = process.argv.slice(2)
const ROUNDS = 20
const GOAL_MS = 100

await using router = await startRouter(extract === '-' ? undefined : extract, 12)
const { locations } = JSON.parse(router.randomBody()) as { locations: { lat: number; lon: number }[] }
const [from, to] = locations as [{ lat: number; lon: number }, { lat: number; lon: number }]
const ring = (points: number, radius: number) =>
  Array.from({ length: points }, (_, i) => [from.lon + Math.sin(i) * radius, from.lat + Math.cos(i) * radius])

const circle = (points: number, radius: number) =>
  Array.from({ length: points }, (_, i) => {
    const angle = (2 * Math.PI * i) / points
    return [from.lon + Math.sin(angle) * radius, from.lat + Math.cos(angle) * radius]
  })

const ask = (more: object) => JSON.stringify({ locations: [from, to], costing: 'auto', ...more })
const HOSTILE: Readonly<Record<string, readonly [body: string, codes: readonly number[]]>> = {
  '10,000 locations': [ask({ locations: Array.from({ length: 10_000 }, () => from) }), [150]],
  'coordinates of 1e308': [ask({ locations: [{ lat: 1e308, lon: 1e308 }, to] }), [130]],
  'longitude of 1e308': [ask({ locations: [{ lat: 48, lon: 1e308 }, to] }), [154, 171]],
  'nested 100,000 deep': ['{"a":'.repeat(100_000), [100]],
  'wrong types in every field': [ask({ locations: [{ lat: [], lon: {} }], costing: 7, units: [], id: {} }), [130]],
  'no JSON, 900 kB': ['x'.repeat(900_000), [100]],
  '2 MB': [ask({ id: 'x'.repeat(2_000_000) }), [413_001]],
  '20 stops at the same place': [ask({ locations: Array.from({ length: 20 }, () => from) }), [0]],
  '50 stops across the map': [
    ask({ costing: 'bus', locations: Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? from : to)) }),
    [0, 442],
  ],
  'alternates and options of its own': [ask({ alternates: 9, costing_options: { auto: { top_speed: 99 } } }), [0]],
  '5,000 rings': [ask({ exclude_polygons: Array.from({ length: 5000 }, () => ring(3, 1e-9)) }), [0, 171, 442]],
  'a ring of 20,000 points': [ask({ exclude_polygons: [ring(20_000, 1e-9)] }), [0, 171, 442]],
  'a ring of 12,000 points around streets': [ask({ exclude_polygons: [circle(12_000, 0.01)] }), [0, 171, 442]],
  'a number of 400,000 digits and a letter': [
    ask({ locations: [{ lat: `${'4'.repeat(400_000)}x`, lon: 1 }, to] }),
    [130],
  ],
  'a filter that lets no street pass': [
    ask({
      locations: [{ ...from, search_filter: { min_road_class: 'motorway', max_road_class: 'service_other' } }, to],
    }),
    [171],
  ],
  '50 stops in radius 1e9 on a named street': [
    ask({
      costing: 'bus',
      locations: Array.from({ length: 50 }, () => ({ ...from, radius: 1e9, street: 'x'.repeat(9000) })),
    }),
    [0, 442],
  ],
  '60,000 fields': [ask(Object.fromEntries(Array(60_000).entries())), [0, 171, 442]],
  'rings around too much': [ask({ exclude_polygons: [ring(9, 1)] }), [167]],
  'nowhere near a street': [
    ask({
      locations: [
        { lat: 0, lon: 0 },
        { lat: 0, lon: 0.01 },
      ],
    }),
    [171],
  ],
}

console.log('worst and middle of', ROUNDS, 'in ms; the goal is', GOAL_MS)
let worst = 0
for (const isBusy of [false, true]) {
  console.log(isBusy ? 'beside 10 connections that ask for routes' : 'alone')
  const stop = new AbortController()
  const others = Array.from({ length: isBusy ? 10 : 0 }, async () => {
    while (!stop.signal.aborted) await router.post(router.randomBody())
  })
  for (const [name, [body, codes]] of Object.entries(HOSTILE)) {
    const times: number[] = []
    for (let i = 0; i < ROUNDS; i++) {
      const answer = await router.post(body)
      const { error_code: code = 0 } = JSON.parse(answer.body) as { error_code?: number }
      if (!codes.includes(code)) throw new Error(`${name}: answered ${answer.body.slice(0, 200)}`)
      times.push(answer.ms)
    }
    worst = Math.max(worst, ...times)
    console.log(
      `  ${name.padEnd(42)} ${Math.max(...times)
        .toFixed(1)
        .padStart(7)} ${quantile(times, 0.5).toFixed(1).padStart(7)}`,
    )
  }
  stop.abort()
  await Promise.all(others)
}
console.log(`RATIO goal / worst: ${(GOAL_MS / worst).toFixed(2)}`)
