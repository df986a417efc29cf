import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { fileSource, openOsm } from '@terrane/osm'
import { describe, expect, it } from 'vitest'

import { buildNetwork, type ProblemBody, Router, type RouteResponse, type Trip } from '../../src/index.ts'
import { decodeShape, editDistance, mean, overlap, quantile, type Shape } from '../support/compare.ts'

// oxlint-disable-next-line node/no-process-env -- where the data lies is a matter of the machine
const SHARED = process.env.TERRANE_SHARED ?? resolve(import.meta.dirname, '../../../../../shared')
const FILE = join(SHARED, 'data/routing/valhalla-public.ndjson.gz')
const EXTRACTS = {
  liechtenstein: 'liechtenstein-2021',
  milan: 'milan-2015',
  porto: 'porto-2015',
  rnv: 'rhein-neckar-2016',
} as const

/** An answer of Valhalla 3.6.1; maneuvers are lists: type, instruction, …, exit count last. */
interface Recorded {
  readonly region: keyof typeof EXTRACTS
  readonly kind: string
  readonly mode: string
  readonly request: Record<string, unknown> & { raw?: string }
  readonly http: number
  readonly body?: ProblemBody
  readonly trip?: Trip
  readonly full?: RouteResponse
}

interface Compared {
  readonly recorded: Recorded
  readonly overlap: number
  readonly time: number
  readonly edit: number
  readonly texts: readonly boolean[]
  readonly exits: readonly boolean[]
}

const there = existsSync(FILE)
const skipped = there ? '' : ' (SKIPPED: no recorded answers; set TERRANE_SHARED to the folder of test data)'

describe.skipIf(!there)(`answers as Valhalla 3.6.1 was recorded to${skipped}`, async () => {
  const records = there ? readRecords() : []
  const { errors, missing, compared } = await compareAll(records)
  const of = (modes: readonly string[]): Compared[] =>
    compared.filter(({ recorded }) => modes.includes(recorded.mode) && ['exact', 'short'].includes(recorded.kind))
  const same = compared.filter((row) => row.overlap >= 0.98)

  it('refuses what it refused, with the same status, code and message', () => {
    expect(errors.filter((error) => error !== '')).toEqual([])
    expect(errors.length).toBeGreaterThan(20)
  })

  it('finds a route where it found one', () => {
    expect(missing).toEqual([])
  })

  it.each([
    [['auto'], 0.95],
    [['bicycle'], 0.9],
    [['pedestrian'], 0.9],
    [['truck', 'bus', 'taxi', 'motor_scooter', 'motorcycle'], 0.92],
  ] as const)('takes the same streets by %s', (modes, least) => {
    const shares = of(modes).map((row) => row.overlap)
    expect(mean(shares)).toBeGreaterThanOrEqual(least)
    expect(quantile(shares, 0.1)).toBeGreaterThanOrEqual(0.8)
  })

  it('needs the same time on the same streets', () => {
    const within = (most: number): number =>
      mean(same.filter(({ time }) => !Number.isNaN(time)).map(({ time }) => Number(Math.abs(time - 1) <= most)))
    expect(within(0.03)).toBeGreaterThanOrEqual(0.98)
    expect(within(0.08)).toBeGreaterThanOrEqual(0.99)
  })

  it('guides by the same maneuvers, in the same words, to the same exits', () => {
    expect(mean(same.map(({ edit }) => edit).filter((edit) => !Number.isNaN(edit)))).toBeLessThanOrEqual(0.02)
    expect(mean(same.flatMap(({ texts }) => texts).map(Number))).toBeGreaterThanOrEqual(0.95)
    expect(mean(same.flatMap(({ exits }) => exits).map(Number))).toBeGreaterThanOrEqual(0.99)
  })
})

function readRecords(): Recorded[] {
  const lines = gunzipSync(readFileSync(FILE)).toString('utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Recorded)
}

async function compareAll(
  records: readonly Recorded[],
): Promise<{ errors: string[]; missing: string[]; compared: Compared[] }> {
  const errors: string[] = []
  const missing: string[] = []
  const compared: Compared[] = []
  for (const [region, list] of Map.groupBy(records, (record) => record.region)) {
    const path = join(SHARED, 'data/osm', `${EXTRACTS[region]}.osm.pbf`)
    const router = new Router(await buildNetwork([await openOsm(await fileSource(path))], { drivingSide: 'left' }))
    for (const recorded of list) {
      const text = recorded.request.raw ?? JSON.stringify(recorded.request)
      const { status, body } = router.answer(text)
      const answer = JSON.parse(body) as RouteResponse & ProblemBody
      if (recorded.http !== 200) {
        const wanted = recorded.body!
        const equal =
          status === recorded.http && answer.error_code === wanted.error_code && answer.error === wanted.error
        errors.push(equal ? '' : `${text}: ${body}`)
      } else if (status === 200) compared.push(compare(recorded, answer.trip))
      else missing.push(`${text}: ${body}`)
    }
    await router.close()
  }
  return { errors, missing, compared }
}

function compare(recorded: Recorded, trip: Trip): Compared {
  const wanted = recorded.trip ?? recorded.full!.trip
  const shapeOf = ({ legs }: Trip): Shape => legs.flatMap(({ shape }) => decodeShape(shape))
  const turns = guidance(wanted)
  const mine = guidance(trip)
  const equalTypes = turns.length === mine.length && turns.every(({ type }, i) => type === mine[i]!.type)
  const types = (list: typeof turns): number[] => list.map(({ type }) => type)
  return {
    recorded,
    overlap: overlap(shapeOf(wanted), shapeOf(trip)),
    time: wanted.summary.time > 0 ? trip.summary.time / wanted.summary.time : NaN,
    edit: turns.length === 0 ? NaN : editDistance(types(turns), types(mine)) / Math.max(turns.length, mine.length),
    texts: equalTypes ? turns.map(({ text }, i) => text === mine[i]!.text) : [],
    exits: equalTypes ? turns.flatMap(({ exit }, i) => (exit === null ? [] : [exit === mine[i]!.exit])) : [],
  }
}

/** The maneuvers of a trip, whichever way they were kept. */
function guidance({ legs }: Trip): { type: number; text: string; exit: number | null }[] {
  return legs.flatMap(({ maneuvers = [] }) =>
    maneuvers.map((maneuver) =>
      Array.isArray(maneuver)
        ? { type: maneuver[0] as number, text: maneuver[1] as string, exit: (maneuver[7] ?? null) as number | null }
        : { type: maneuver.type, text: maneuver.instruction, exit: maneuver.roundabout_exit_count ?? null },
    ),
  )
}
