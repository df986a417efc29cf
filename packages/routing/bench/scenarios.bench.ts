import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'

import { differences, type Outcome, outcomeOf } from '../test/support/outcome.ts'
import { openScenarios, placeScenarios } from '../test/support/scenario-town.ts'
import { openValhalla } from './support/valhalla.ts'

// Compares Terrane with a live Valhalla on the drawn maps of `test/scenarios`: `node scenarios.bench.ts` prints the
// differences. `--record` stores Valhalla's answers for the everyday test.
const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } })
const folder = mkdtempSync(join(tmpdir(), 'terrane-scenarios-'))
const path = join(folder, 'scenarios.osm.pbf')
const { pbf } = placeScenarios()
writeFileSync(path, pbf)
const valhalla = openValhalla({
  name: `scenarios-${Buffer.from(await crypto.subtle.digest('SHA-256', pbf))
    .toString('hex')
    .slice(0, 12)}`,
  path,
})
rmSync(folder, { recursive: true })
if (valhalla !== null) {
  const { asks, answer } = await openScenarios()
  const recorded: Record<string, Outcome> = {}
  let same = 0
  for (const ask of asks) {
    const theirs = await valhalla
      .route(ask.request)
      .catch((error: unknown) => JSON.stringify({ error: String(error).replace(/^.*Route error: /, '') }))
    const expected = outcomeOf(theirs, ask.places)
    const mine = answer(ask)
    recorded[ask.name] = expected
    const differ = differences(mine, expected)
    if (differ.length === 0) same++
    else console.log(ask.name)
    for (const key of differ) {
      console.log(`  ${key}: ${JSON.stringify(mine[key])}\n  Valhalla: ${JSON.stringify(expected[key])}`)
    }
  }
  console.log(`${same} of ${asks.length} as Valhalla 3.6.1 answers`)
  if (values.record) {
    const lines = Object.entries(recorded).map((entry) => JSON.stringify(entry))
    writeFileSync(join(import.meta.dirname, '../test/scenarios/answers.ndjson'), `${lines.join('\n')}\n`)
  }
}
process.exit()
