import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { bytesSource, fileSource, openOsm, type OsmReader } from '@terrane/osm'
import { beforeAll, describe, expect, it } from 'vitest'

import { buildNetwork, MODES, type Network, Router } from '../../src/index.ts'
import { compareWithDijkstra } from '../support/compare-searches.ts'
import { LegalityChecker } from '../support/legality/check.ts'
import { readTravelMap } from '../support/legality/map.ts'
import { checkRandomRoutes } from '../support/random-routes.ts'
import { townPbf } from '../support/town.ts'

// oxlint-disable-next-line node/no-process-env -- where the data lies is a matter of the machine
const shared = process.env.TERRANE_SHARED ?? join(import.meta.dirname, '../../../../../shared')

const PLACES: readonly { name: string; open: () => Promise<OsmReader>; there: boolean }[] = [
  { name: 'the demo town', open: async () => openOsm(bytesSource(townPbf())), there: true },
  ...['monaco-2023', 'liechtenstein-2021', 'milan-2015'].map((name) => {
    const path = join(shared, 'data/osm', `${name}.osm.pbf`)
    return { name, open: async () => openOsm(await fileSource(path)), there: existsSync(path) }
  }),
]

for (const { name, open, there } of PLACES) {
  const skipped = there ? '' : ' (SKIPPED: no extract; set TERRANE_SHARED to the folder of test data)'
  describe.skipIf(!there)(`in ${name}${skipped}`, () => {
    let network: Network
    let router: Router
    let checker: LegalityChecker
    beforeAll(async () => {
      const reader = await open()
      network = await buildNetwork([reader])
      router = new Router(network)
      checker = new LegalityChecker(await readTravelMap(reader))
      return () => router.close()
    })

    it.each(MODES)('random routes by %s break no one-way street, access tag, barrier or turn restriction', (mode) => {
      const tally = checkRandomRoutes({ router, checker }, { mode, routes: 60, seed: 17 })
      expect(tally.violations).toEqual([])
      expect(tally.routes).toBeGreaterThan(30)
    })

    it.each(MODES)('the hierarchy finds the costs of plain Dijkstra for %s', (mode) => {
      const { different, connected } = compareWithDijkstra(network, { mode, pairs: 60, seed: 17 })
      expect(different).toEqual([])
      expect(connected).toBeGreaterThan(20)
    })
  })
}
