import { createReadStream, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import proj4 from 'proj4'

/*
 * Makes src/raster/crs/epsg.tsv of what crs-candidates.py found:
 *
 *     python3 tools/crs-candidates.py /folder/with/proj.db/alone > candidates.jsonl
 *     node tools/crs-table.ts candidates.jsonl
 *
 * The residual of each CRS is measured here, by the program that will use the definition: the largest distance between
 * its answer and PROJ's over a grid of points in the area of use.
 */

interface Candidate {
  readonly code: number
  readonly name: string
  readonly definition: string
  readonly a: number
  readonly rf: number
  /** 0, 3 or 7 Helmert parameters. */
  readonly shift: readonly number[]
  /** x, y, longitude, latitude. */
  readonly points: readonly (readonly [number, number, number, number])[]
}

const METERS_PER_DEGREE = 111_319.49
/** What a datum costs without its grid. Above it a CRS is listed by its residual alone, and refused. */
const MAX_RESIDUAL = 1

/** The sphere of Pseudo-Mercator is one of the formulas alone: longitudes and latitudes are those of the ellipsoid. */
const PSEUDO_MERCATOR = [3857, '+proj=merc +lon_0=0 +a=6378137 +b=6378137 +nadgrids=@null'] as const

function definitionOf({ code, definition, a, rf, shift }: Candidate): string {
  if (code === PSEUDO_MERCATOR[0]) return PSEUDO_MERCATOR[1]
  const projection = definition.replace(/ \+units=m(?= |$)/, '')
  // A sphere has no datum that a Helmert shift could move; PROJ keeps its longitudes and latitudes.
  const ellipsoid = rf === 0 ? `+R=${a}` : `+a=${a} +rf=${Number(rf.toFixed(9))}`
  return `${projection} ${ellipsoid}${rf === 0 ? '' : ` +towgs84=${shift.length === 0 ? '0,0,0' : shift.join()}`}`
}

function residualOf(definition: string, points: Candidate['points']): number {
  const converter = proj4(definition)
  let worst = 0
  for (const [x, y, lng, lat] of points) {
    const [gotLng, gotLat] = converter.inverse<[number, number]>([x, y])
    const turn = gotLng - lng - 360 * Math.round((gotLng - lng) / 360)
    const east = turn * METERS_PER_DEGREE * Math.cos((lat * Math.PI) / 180)
    const miss = Math.hypot(east, (gotLat - lat) * METERS_PER_DEGREE)
    worst = Math.max(worst, Number.isFinite(miss) ? miss : Infinity)
  }
  return worst
}

const lines: [number, string][] = []
const tally = { exact: 0, shifted: 0, refused: 0 }
for (const path of process.argv.slice(2)) {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const candidate = JSON.parse(line) as Candidate
    let definition = definitionOf(candidate)
    let residual = Infinity
    try {
      // Where most of the area needs no shift, an average shift would spoil it for the sake of an island.
      const plain = definitionOf({ ...candidate, shift: [] })
      const unshifted = candidate.points.filter((point) => residualOf(plain, [point]) <= 0.001)
      if (unshifted.length > candidate.points.length / 2) definition = plain
      residual = residualOf(definition, candidate.points)
    } catch {
      // Not one of proj4's projections.
    }
    const usable = residual <= MAX_RESIDUAL
    tally[usable ? (residual <= 0.001 ? 'exact' : 'shifted') : 'refused']++
    const stated = Number.isFinite(residual) ? Number(residual.toPrecision(2)).toString() : ''
    lines.push([candidate.code, [candidate.code, candidate.name, stated, usable ? definition : ''].join('\t')])
  }
}
lines.sort(([a], [b]) => a - b)
const header =
  '# code, name, largest distance from PROJ in meters, definition; made by tools/crs-table.ts from the EPSG data set in PROJ'
const path = new URL('../src/raster/crs/epsg.tsv', import.meta.url)
writeFileSync(path, `${[header, ...lines.map(([, line]) => line)].join('\n')}\n`)
process.stdout.write(`${JSON.stringify(tally)}\n`)
