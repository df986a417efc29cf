import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'

import { bytesSource, fileSource, openOsm, type OsmReader } from '@terrane/osm'

import { buildNetwork, MODES, Router } from '../src/index.ts'
import { compareWithDijkstra } from '../test/support/compare-searches.ts'
import { LegalityChecker } from '../test/support/legality/check.ts'
import { readTravelMap } from '../test/support/legality/map.ts'
import { checkRandomRoutes, type FoundViolation } from '../test/support/random-routes.ts'
import { townPbf } from '../test/support/town.ts'
import { findExtracts } from './support/extracts.ts'

// Random routes of all modes, walked back to OpenStreetMap by a checker that shares nothing with the engine: does any
// break a one-way street, an access tag, a barrier or a turn restriction? And random searches on the hierarchies: do
// they cost what plain Dijkstra says? `node legality.bench.ts milan porto --routes 10000 --pairs 10000`
const { values, positionals } = parseArgs({
  options: {
    routes: { type: 'string', default: '10000' },
    pairs: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
  },
  allowPositionals: true,
})
const EXTRACTS = ['liechtenstein', 'milan', 'porto', 'rhein', 'malta', 'monaco']

const readers: { name: string; reader: OsmReader }[] = []
for (const { name, path } of findExtracts(positionals.length > 0 ? positionals : EXTRACTS)) {
  readers.push({ name, reader: await openOsm(await fileSource(path)) })
}
if (readers.length === 0) {
  readers.push({ name: 'demo town', reader: await openOsm(bytesSource(townPbf())) })
}

const runs = readers.length * MODES.length
const routes = Math.ceil(Number(values.routes) / runs)
const pairs = Math.ceil(Number(values.pairs) / runs)
const seed = Number(values.seed)
const rows: Record<string, string | number>[] = []
const violations: (FoundViolation & { extract: string })[] = []
let different = 0
for (const { name, reader } of readers) {
  const network = await buildNetwork([reader])
  const router = new Router(network)
  const checker = new LegalityChecker(await readTravelMap(reader))
  for (const mode of MODES) {
    const tally = checkRandomRoutes({ router, checker }, { mode, routes, seed })
    const searches = compareWithDijkstra(network, { mode, pairs, seed })
    violations.push(...tally.violations.map((violation) => ({ ...violation, extract: name })))
    different += searches.different.length
    const row = {
      extract: name,
      mode,
      routes: tally.routes,
      'no route': tally.unreachable,
      violations: tally.violations.length,
      'past restricted ways': tally.throughRestricted,
      pairs: searches.pairs,
      connected: searches.connected,
      'costs that differ': searches.different.length,
    }
    rows.push(row)
    console.log(JSON.stringify(row))
  }
  await router.close()
}
console.table(rows)
const sum = (key: string): number => rows.reduce((total, row) => total + Number(row[key]), 0)
console.log(
  `${sum('routes')} routes: ${violations.length} violations; ${sum('pairs')} pairs: ${different} costs that differ`,
)
for (const { extract, mode, kind, id, at, request } of violations.slice(0, 20)) {
  console.log(`${extract} ${mode}: ${kind} ${id} at ${at.join(', ')} of ${request}`)
}
assert.equal(violations.length, 0)
assert.equal(different, 0)
