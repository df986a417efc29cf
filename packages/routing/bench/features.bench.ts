import { parseArgs } from 'node:util'

import { MODES, type Mode, Router, type Trip } from '../src/index.ts'
import { decodeShape, mean, overlap } from '../test/support/compare.ts'
import { buildExtract, findExtracts } from './support/extracts.ts'
import { type Feature, featureRequest, FEATURES } from './support/features.ts'
import { openValhalla, regretOf, type Valhalla } from './support/valhalla.ts'

// Compares Terrane's answers with Valhalla's for every documented request member, one at a time, with every mode.
// `node features.bench.ts liechtenstein --count 3 --modes auto,bicycle --feature use_ --worst 2`
const { values, positionals } = parseArgs({
  options: {
    count: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
    modes: { type: 'string' },
    feature: { type: 'string', default: '' },
    worst: { type: 'string', default: '1' },
  },
  allowPositionals: true,
})
const modes = MODES.filter((mode) => values.modes?.split(',').includes(mode) ?? true)
const features = FEATURES.filter(({ name }) => name.startsWith(values.feature))

interface Row {
  readonly feature: string
  readonly mode: Mode
  readonly text: string
  /** Whether both found a route, or the same error. */
  readonly agree: boolean
  /** Both answers when they disagree, or the differing members besides shape and figures. */
  readonly difference: string
  readonly same: boolean
  readonly overlap: number
  readonly time: number
  readonly cost: number
  readonly regret: number
  readonly texts: number
}

interface Answer {
  readonly trip?: Trip
  readonly alternates?: readonly { trip: Trip }[]
  readonly error?: string
  readonly [member: string]: unknown
}

const rows: Row[] = []
for (const extract of findExtracts(positionals.length > 0 ? positionals : ['liechtenstein', 'malta', 'monaco'])) {
  const valhalla = openValhalla(extract)
  if (valhalla === null) continue
  const network = await buildExtract(extract)
  const router = new Router(network)
  const begun = rows.length
  for (const feature of features) {
    for (const mode of modes) {
      for (let i = 0; i < Number(values.count); i++) {
        const seed = Number(values.seed) * 1_000_003 + rows.length - begun
        const text = featureRequest(network, feature, mode, seed)
        rows.push(await compare(router, valhalla, { feature, mode, text }))
      }
    }
  }
  await router.close()
}
report()

async function compare(
  router: Router,
  valhalla: Valhalla,
  { feature, mode, text }: { feature: Feature; mode: Mode; text: string },
): Promise<Row> {
  const mine = JSON.parse(router.answer(text).body) as Answer
  let theirs: Answer
  try {
    theirs = JSON.parse(await valhalla.route(text)) as Answer
  } catch (error) {
    theirs = { error: String(error).replace(/^.*Route error: /, '') }
  }
  const row = { feature: feature.name, mode, text }
  const none = { same: false, overlap: NaN, time: NaN, cost: NaN, regret: NaN, texts: NaN }
  if (mine.trip === undefined || theirs.trip === undefined) {
    const agree = mine.error === theirs.error
    const difference = agree ? '' : `${mine.error ?? 'found'} | ${theirs.error ?? 'found'}`
    return { ...row, agree, difference, ...none, same: agree }
  }
  const [shape, other] = [mine.trip, theirs.trip].map(({ legs }) => legs.flatMap((leg) => decodeShape(leg.shape)))
  const same =
    JSON.stringify(mine.trip.legs.map((leg) => leg.shape)) === JSON.stringify(theirs.trip.legs.map((leg) => leg.shape))
  return {
    ...row,
    agree: true,
    difference: differenceOf(mine, theirs, same),
    same,
    overlap: overlap(other!, shape!),
    time: same ? mine.trip.summary.time / theirs.trip.summary.time : NaN,
    cost: same ? mine.trip.summary.cost / theirs.trip.summary.cost : NaN,
    regret: mine.trip.locations.length > 2 ? NaN : await regretOf(valhalla, text, mine.trip, theirs.trip),
    texts: same ? textsAlike(mine.trip, theirs.trip) : NaN,
  }
}

/** The differing members of answers with equal routes. */
function differenceOf(mine: Answer, theirs: Answer, same: boolean): string {
  const found: string[] = []
  const differ = (path: string, a: unknown, b: unknown): void => {
    if (JSON.stringify(a) !== JSON.stringify(b)) found.push(`${path} ${clip(a)} | ${clip(b)}`)
  }
  differ('keys', Object.keys(mine), Object.keys(theirs))
  differ('alternates', mine.alternates?.length, theirs.alternates?.length)
  differ('id', mine.id, theirs.id)
  const { legs, summary, locations, ...rest } = mine.trip!
  const { legs: otherLegs, summary: otherSummary, locations: otherLocations, ...otherRest } = theirs.trip!
  differ('trip keys', Object.keys(mine.trip!), Object.keys(theirs.trip!))
  differ('trip', rest, otherRest)
  differ('legs', legs.length, otherLegs.length)
  differ('summary keys', Object.keys(summary), Object.keys(otherSummary))
  if (!same) return found.join('; ')
  locations.forEach((location, i) => differ(`location ${i}`, location, otherLocations[i]))
  for (const name of ['has_toll', 'has_highway', 'has_ferry', 'has_time_restrictions', 'length', 'min_lat'] as const) {
    differ(name, (summary as never)[name], (otherSummary as never)[name])
  }
  legs.forEach((leg, i) => {
    const other = otherLegs[i]!
    differ('leg keys', Object.keys(leg), Object.keys(other))
    differ(
      'maneuvers',
      leg.maneuvers?.map(({ type }) => type),
      other.maneuvers?.map(({ type }) => type),
    )
    if (leg.maneuvers?.length !== other.maneuvers?.length) return
    leg.maneuvers?.forEach((maneuver, j) => differ('maneuver', marksOf(maneuver), marksOf(other.maneuvers![j]!)))
  })
  return found.join('; ')
}

/** A maneuver without texts and figures. */
function marksOf(maneuver: object): object {
  const entries = Object.entries(maneuver).filter(([name]) => !/instruction|^time$|^cost$|^length$/.test(name))
  return Object.fromEntries(entries)
}

function clip(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}

function textsAlike(mine: Trip, theirs: Trip): number {
  const [a, b] = [textsOf(mine), textsOf(theirs)]
  return a.length === 0 ? NaN : a.filter((text, i) => text === b[i]).length / Math.max(a.length, b.length)
}

function textsOf({ legs }: Trip): string[] {
  return legs.flatMap((leg) => leg.maneuvers?.flatMap(spoken) ?? [])
}

function spoken(maneuver: object): string[] {
  return Object.entries(maneuver).flatMap(([name, text]) => (name.includes('instruction') ? [String(text)] : []))
}

function report(): void {
  const groups = [...Map.groupBy(rows, ({ feature }) => feature)].map(([name, list]) => {
    const of = (field: 'overlap' | 'regret' | 'time' | 'cost' | 'texts'): number[] =>
      list.map((row) => row[field]).filter((value) => !Number.isNaN(value))
    return [
      name.slice(0, 46),
      {
        n: list.length,
        agree: mean(list.map(({ agree }) => Number(agree))),
        'same shape': mean(list.map(({ same }) => Number(same))),
        overlap: mean(of('overlap')),
        'regret mean': mean(of('regret')),
        'time ±1 %': mean(of('time').map((value) => Number(Math.abs(value - 1) < 0.01))),
        'cost ±1 %': mean(of('cost').map((value) => Number(Math.abs(value - 1) < 0.01))),
        texts: mean(of('texts')),
        differ: list.filter(({ difference }) => difference !== '').length,
      },
    ] as const
  })
  const score = (row: (typeof groups)[number][1]): number =>
    row.agree * 4 + row['same shape'] + (row['cost ±1 %'] || 0) + (row['time ±1 %'] || 0) - row.differ / row.n
  const sorted = groups.toSorted(([, a], [, b]) => score(a) - score(b))
  console.table(
    Object.fromEntries(
      sorted.map(([name, row]) => [
        name,
        Object.fromEntries(Object.entries(row).map(([key, value]) => [key, Math.round(value * 1e3) / 1e3])),
      ]),
    ),
  )
  for (const [name] of sorted) {
    const list = rows.filter((row) => row.feature.startsWith(name))
    const strange = list
      .filter(({ difference }) => difference !== '')
      .toSorted((a, b) => Number(a.agree) - Number(b.agree))
    for (const { difference, mode, text } of strange.slice(0, Number(values.worst))) {
      console.log(`${name} ${mode}: ${difference}\n    ${text}`)
    }
    const costly = list.filter(({ cost }) => Math.abs(cost - 1) > 0.01)
    for (const { cost, mode, text } of costly.slice(0, Number(values.worst))) {
      console.log(`${name} ${mode}: cost ${cost.toFixed(4)}\n    ${text}`)
    }
  }
}
