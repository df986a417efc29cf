import { parseArgs } from 'node:util'

import { fileSource, openOsm } from '@terrane/osm'

import { MODES, Router, type Trip } from '../src/index.ts'
import { decodeShape, editDistance, mean, overlap, quantile } from '../test/support/compare.ts'
import { LegalityChecker } from '../test/support/legality/check.ts'
import { readTravelMap } from '../test/support/legality/map.ts'
import { buildExtract, findExtracts } from './support/extracts.ts'
import { reasonOf } from './support/reasons.ts'
import { type BenchRequest, randomRequests } from './support/requests.ts'
import { openValhalla, regretOf, type Valhalla } from './support/valhalla.ts'

// Random requests to Terrane and Valhalla: share of routes found, overlap of the routes, and cost of Terrane's route by
// Valhalla's costing. For large differences, `support/reasons.ts` looks for a legal reason.
// `node agreement.bench.ts monaco malta --count 400 --seed 2 --worst 10`
const { values, positionals } = parseArgs({
  options: {
    count: { type: 'string' },
    seed: { type: 'string' },
    worst: { type: 'string' },
    modes: { type: 'string' },
  },
  allowPositionals: true,
})
/** Minimum regret for which a legal reason is looked for. */
const MUCH = 1.2
const modes = MODES.filter((mode) => values.modes?.split(',').includes(mode) ?? true)

interface Row {
  readonly request: BenchRequest
  readonly agree: boolean
  readonly found: boolean
  readonly errors: string
  /** Reason why a large difference is correct; null without a reason or a large difference. */
  readonly reason: string | null
  readonly overlap: number
  /**
   * Cost of Terrane's shape divided by the cost of Valhalla's route, both by Valhalla; NaN when it cannot follow the
   * shape.
   */
  readonly regret: number
  readonly time: number
  readonly edit: number
  readonly texts: number
}

for (const extract of findExtracts(positionals.length > 0 ? positionals : ['monaco', 'malta', 'liechtenstein'])) {
  const valhalla = openValhalla(extract)
  if (valhalla === null) continue
  const network = await buildExtract(extract)
  const router = new Router(network)
  const checker = new LegalityChecker(await readTravelMap(await openOsm(await fileSource(extract.path))))
  const rows: Row[] = []
  const requests = randomRequests(network, modes, Number(values.count ?? 400), Number(values.seed ?? 1))
  for (const request of requests) rows.push(await compare({ router, valhalla, checker }, request))
  await router.close()
  report(rows)
}

interface Sides {
  readonly router: Router
  readonly valhalla: Valhalla
  readonly checker: LegalityChecker
}

async function compare({ router, valhalla, checker }: Sides, request: BenchRequest): Promise<Row> {
  const none = { overlap: NaN, regret: NaN, time: NaN, edit: NaN, texts: NaN }
  const sent = router.answer(request.text)
  const mine = JSON.parse(sent.body) as { trip?: Trip; error?: string }
  let theirs: { trip?: Trip; error?: string }
  try {
    theirs = JSON.parse(await valhalla.route(request.text)) as { trip: Trip }
  } catch (error) {
    theirs = { error: String(error).replace(/^.*Route error: /, '') }
  }
  if (mine.trip === undefined || theirs.trip === undefined) {
    const agree = mine.error === theirs.error
    const reason = agree ? null : await reasonOf({ valhalla, checker, request, mine: mine.trip, theirs: theirs.trip })
    return {
      request,
      agree,
      found: false,
      reason,
      errors: `${mine.error ?? 'found'} | ${theirs.error ?? 'found'}`,
      ...none,
    }
  }
  const shapes = [mine.trip, theirs.trip].map(({ legs }) => legs.flatMap((leg) => decodeShape(leg.shape)))
  const alike = overlap(shapes[1]!, shapes[0]!)
  const [myTexts, theirTexts] = [textsOf(mine.trip), textsOf(theirs.trip)]
  const longest = Math.max(myTexts.length, theirTexts.length)
  const regret = mine.trip.locations.length > 2 ? NaN : await regretOf(valhalla, request.text, mine.trip, theirs.trip)
  return {
    request,
    agree: true,
    found: true,
    errors: '',
    reason: regret > MUCH ? await reasonOf({ valhalla, checker, request, mine: mine.trip, theirs: theirs.trip }) : null,
    overlap: alike,
    regret,
    time: mine.trip.summary.time / theirs.trip.summary.time,
    edit: alike < 0.98 ? NaN : editDistance(typesOf(mine.trip), typesOf(theirs.trip)) / longest,
    texts: alike < 0.98 ? NaN : 1 - editDistance(myTexts, theirTexts) / longest,
  }
}

function typesOf({ legs }: Trip): number[] {
  return legs.flatMap((leg) => leg.maneuvers?.map(({ type }) => type) ?? [])
}

function textsOf({ legs }: Trip): string[] {
  return legs.flatMap((leg) => leg.maneuvers?.map(({ instruction }) => instruction) ?? [])
}

function report(rows: readonly Row[]): void {
  const table = Object.fromEntries(
    [...Map.groupBy(rows, (row) => row.request.mode)].map(([mode, list]) => {
      const of = (field: 'overlap' | 'regret' | 'time' | 'edit' | 'texts'): number[] =>
        list.map((row) => row[field]).filter((value) => !Number.isNaN(value))
      const same = list.filter((row) => row.overlap >= 0.98).map((row) => Math.abs(row.time - 1))
      return [
        mode,
        {
          n: list.length,
          agree: mean(list.map((row) => Number(row.agree))),
          'or explained': mean(list.map((row) => Number(row.agree || row.reason !== null))),
          found: mean(list.map((row) => Number(row.found))),
          overlap: mean(of('overlap')),
          'overlap p10': quantile(of('overlap'), 0.1),
          walked: of('regret').length,
          'regret p50': quantile(of('regret'), 0.5),
          p90: quantile(of('regret'), 0.9),
          p99: quantile(of('regret'), 0.99),
          max: quantile(of('regret'), 1),
          much: list.filter((row) => row.regret > MUCH).length,
          unexplained: list.filter((row) => row.regret > MUCH && row.reason === null).length,
          'time ±3 %': mean(same.map((difference) => Number(difference <= 0.03))),
          edit: mean(of('edit')),
          texts: mean(of('texts')),
        },
      ]
    }),
  )
  console.table(rounded(table))
  const worst = Number(values.worst ?? 5)
  const reasons = Map.groupBy(
    rows.filter(({ reason }) => reason !== null),
    ({ reason, found }) => `${found ? 'costs more' : 'found or not'}: ${reason}`,
  )
  for (const [reason, list] of reasons) console.log(`  ${list.length} × ${reason}`)
  const strange = rows.filter((row) => !row.agree && row.reason === null)
  for (const { request, errors } of strange.slice(0, worst)) console.log(`  ${errors}: ${request.text}`)
  for (const field of ['regret', 'overlap', 'texts'] as const) {
    const sign = field === 'regret' ? -1 : 1
    const list = rows.filter((row) => !Number.isNaN(row[field])).toSorted((a, b) => sign * (a[field] - b[field]))
    for (const row of list.slice(0, worst)) {
      console.log(`  ${field} ${row[field].toFixed(3)} ${row.reason ?? ''} ${row.request.kind}: ${row.request.text}`)
    }
  }
}

function rounded(table: Record<string, Record<string, number>>): Record<string, Record<string, number>> {
  return Object.fromEntries(
    Object.entries(table).map(([name, row]) => [
      name,
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key, Math.round(value * 1e4) / 1e4])),
    ]),
  )
}
