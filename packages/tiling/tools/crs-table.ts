import { createReadStream, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import proj4 from 'proj4'

/*
 * Makes src/raster/crs/epsg.tsv and datum-shifts.tsv from the output of crs-candidates.py:
 *
 *     python3 tools/crs-candidates.py /folder/with/proj.db/alone > candidates.jsonl
 *     node tools/crs-table.ts candidates.jsonl
 *
 * The residual of each CRS is the largest distance between proj4's and PROJ's positions over a grid of points in the
 * area of use.
 */

interface Candidate {
  readonly code: number
  /** Code of the underlying geographic CRS. */
  readonly base: number
  readonly name: string
  readonly definition: string
  readonly a: number
  readonly rf: number
  /** 0, 3 or 7 Helmert parameters. */
  readonly shift: readonly number[]
  /** x, y, longitude, latitude. */
  readonly points: readonly (readonly [number, number, number, number])[]
}

/** Transformations from a geographic CRS to WGS 84 in order of preference: west, south, east, north, parameters. */
interface Ways {
  readonly areasOf: number
  readonly ways: readonly (readonly [number, number, number, number, readonly number[] | null])[]
}

const METERS_PER_DEGREE = 111_319.49
/**
 * Maximum residual in meters, about the error of a datum without its grid. Above it a CRS is listed with its residual
 * only, and refused.
 */
const MAX_RESIDUAL = 1

/** Pseudo-Mercator uses a sphere in its formulas only; its longitudes and latitudes refer to the ellipsoid. */
const PSEUDO_MERCATOR = [3857, '+proj=merc +lon_0=0 +a=6378137 +b=6378137 +nadgrids=@null'] as const

function definitionOf({ code, definition, a, rf, shift }: Candidate): string {
  if (code === PSEUDO_MERCATOR[0]) return PSEUDO_MERCATOR[1]
  const projection = definition.replace(/ \+units=m(?= |$)/, '')
  // A sphere has no datum for a Helmert shift; PROJ keeps its longitudes and latitudes.
  const ellipsoid = rf === 0 ? `+R=${a}` : `+a=${a} +rf=${Number(rf.toFixed(9))}`
  return `${projection} ${ellipsoid}${rf === 0 ? '' : ` +towgs84=${shift.length === 0 ? '0,0,0' : shift.join()}`}`
}

function residualOf(definition: string, points: Candidate['points']): number {
  const converter = proj4(definition)
  let worst = 0
  for (const [x, y, lng, lat] of points) {
    const [gotLng, gotLat] = converter.inverse<[number, number]>([x, y], true)
    const turn = gotLng - lng - 360 * Math.round((gotLng - lng) / 360)
    const east = turn * METERS_PER_DEGREE * Math.cos((lat * Math.PI) / 180)
    const miss = Math.hypot(east, (gotLat - lat) * METERS_PER_DEGREE)
    worst = Math.max(worst, Number.isFinite(miss) ? miss : Infinity)
  }
  return worst
}

/**
 * The shift that PROJ applies at a position of the datum; null when there is none, or it is not expressible by
 * parameters.
 */
function shiftAt({ ways }: Ways, lng: number, lat: number): string | null {
  const way = ways.find(([west, south, east, north]) => {
    const inside = west <= east ? west <= lng && lng <= east : west <= lng || lng <= east
    return inside && south <= lat && lat <= north
  })
  return way?.[4]?.join() ?? null
}

/** The CRS with a shift that depends on the position: its largest residual, and a definition without a fixed shift. */
function byArea(candidate: Candidate, ways: Ways): { definition: string; residual: number } {
  const plain = definitionOf({ ...candidate, shift: [] }).replace(' +towgs84=0,0,0', '')
  const toBase = proj4(plain)
  let worst = 0
  let placed = 0
  for (const point of candidate.points) {
    const [lng, lat] = toBase.inverse<[number, number]>([point[0], point[1]], true)
    const shift = shiftAt(ways, lng, lat)
    if (shift === null) continue
    placed++
    worst = Math.max(worst, residualOf(`${plain} +towgs84=${shift}`, [point]))
  }
  const residual = placed > 1 ? worst : Infinity
  return { definition: `${plain} +towgs84=@${ways.areasOf}`, residual }
}

async function* linesOf(paths: readonly string[]): AsyncGenerator<Candidate | Ways> {
  for (const path of paths) {
    for await (const line of createInterface({ input: createReadStream(path) }))
      yield JSON.parse(line) as Candidate | Ways
  }
}

const candidates: Candidate[] = []
const waysOf = new Map<number, Ways>()
for await (const line of linesOf(process.argv.slice(2))) {
  if ('areasOf' in line) waysOf.set(line.areasOf, line)
  else candidates.push(line)
}

const lines: [number, string][] = []
const used = new Set<number>()
const tally = { exact: 0, shifted: 0, byArea: 0, unshifted: 0, refused: 0 }
for (const candidate of candidates) {
  let definition = definitionOf(candidate)
  let residual = Infinity
  let kind: keyof typeof tally = 'refused'
  try {
    // When most of the area needs no shift, an average shift would reduce accuracy there for the sake of a small part.
    const plain = definitionOf({ ...candidate, shift: [] })
    const unshifted = candidate.points.filter((point) => residualOf(plain, [point]) <= 0.001)
    if (unshifted.length > candidate.points.length / 2) definition = plain
    residual = residualOf(definition, candidate.points)
    if (residual <= MAX_RESIDUAL) kind = residual <= 0.001 ? 'exact' : 'shifted'
    const ways = waysOf.get(candidate.base)
    if (kind === 'refused' && ways) {
      const split = byArea(candidate, ways)
      if (split.residual <= MAX_RESIDUAL) {
        ;({ definition, residual } = split)
        kind = 'byArea'
        used.add(candidate.base)
      }
    }
    // No shift and no grid of the datum is published; PROJ keeps its longitudes and latitudes then.
    if (kind === 'refused' && ways === undefined) {
      const kept = plain.replace(' +towgs84=0,0,0', '')
      const missed = residualOf(kept, candidate.points)
      if (missed <= 0.001) {
        definition = kept
        residual = missed
        kind = 'unshifted'
      }
    }
  } catch {
    // Not one of proj4's projections.
  }
  tally[kind]++
  const stated = Number.isFinite(residual) ? Number(residual.toPrecision(2)).toString() : ''
  const { code, name } = candidate
  lines.push([code, [code, name, stated, kind === 'refused' ? '' : definition].join('\t')])
}
lines.sort(([a], [b]) => a - b)
write(
  'epsg.tsv',
  '# code, name, largest distance from PROJ in meters, definition; made by tools/crs-table.ts from the EPSG data set in PROJ',
  lines.map(([, line]) => line),
)
write(
  'datum-shifts.tsv',
  '# geographic CRS, west, south, east, north, +towgs84 (empty: needs a grid); the first that holds a place is meant; made by tools/crs-table.ts',
  [...used]
    .toSorted((a, b) => a - b)
    .flatMap((code) =>
      waysOf.get(code)!.ways.map((way) => [code, ...way.slice(0, 4), way[4]?.join() ?? ''].join('\t')),
    ),
)
process.stdout.write(`${JSON.stringify(tally)}\n`)

function write(name: string, header: string, rows: readonly string[]): void {
  writeFileSync(new URL(`../src/raster/crs/${name}`, import.meta.url), `${[header, ...rows].join('\n')}\n`)
}
