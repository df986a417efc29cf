import { bytesSource, openOsm, writePbf } from '@terrane/osm'
import { expect, it } from 'vitest'

import { buildNetwork, Router } from '../src/index.ts'

// A────B┄┄┄┄C────D   AB and CD are streets, BC is a lane of grass, or one for light vehicles only.
const AT = { A: 9.5, B: 9.502, C: 9.504, D: 9.506 } as const
type Name = keyof typeof AT

async function routerWith(lane: Record<string, string>): Promise<Router> {
  const way = (id: number, refs: number[], tags: Record<string, string>) => ({ type: 'way' as const, id, refs, tags })
  const parts = writePbf([
    ...Object.values(AT).map((lon, i) => ({ type: 'node' as const, id: i + 1, lon, lat: 47, tags: {} })),
    way(1, [1, 2], { highway: 'residential' }),
    way(2, [2, 3], { highway: 'residential', ...lane }),
    way(3, [3, 4], { highway: 'residential' }),
  ])
  return new Router(await buildNetwork([await openOsm(bytesSource(Buffer.concat([...parts]), 'lane.osm.pbf'))]))
}

function statusOf(router: Router, costing: string, from: Name, to: Name): number {
  // In the middle between two crossings, so that there is no choice of streets.
  const locations = [from, to].map((name) => ({ lat: 47, lon: AT[name] + 0.001, minimum_reachability: 0 }))
  return router.answer(JSON.stringify({ locations, costing })).status
}

it.each([
  ['a moped', 'motor_scooter', 'grass', { surface: 'grass' }],
  ['a truck', 'truck', 'a limit of weight', { maxweight: '3.5' }],
])('%s may begin and end where it could not pass: %s on %s', async (_, costing, __, lane) => {
  const router = await routerWith(lane)
  expect(statusOf(router, costing, 'A', 'B')).toBe(200)
  expect(statusOf(router, costing, 'B', 'A')).toBe(200)
  expect(statusOf(router, costing, 'B', 'C')).toBe(200)
  expect(statusOf(router, costing, 'A', 'C')).toBe(400)
  expect(statusOf(router, 'bicycle', 'A', 'C')).toBe(200)
})
