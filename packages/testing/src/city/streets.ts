import type { CityTags } from './element.ts'
import type { CityBuilder, Point } from './builder.ts'
import { COLUMN_NAMES, ROW_NAMES } from './names.ts'
import { RIVER_WIDTH, gridPoint, riverY } from './plan.ts'
import { between } from './shapes.ts'

/** Columns and rows of the two parts of the town, both ends included. */
export const SOUTH = { west: -9, east: 9, south: -9, north: 1 } as const
export const NORTH = { west: -4, east: 5, south: 5, north: 9 } as const

/** Crossing of the primary road and the southern ring road. */
const ROUNDABOUT = { column: 0, row: -8, radius: 20 } as const

const SIGNALS: readonly (readonly [number, number])[] = [[0, -6], [0, -3], [0, 0], [-6, -3], [6, -3], [0, 5]] // prettier-ignore

/** Ways by street and stretch, for the other parts of the city. */
export interface Streets {
  /** The way of the street along a column, or a row, that leaves a grid point northwards or eastwards. */
  readonly northOf: ReadonlyMap<string, number>
  readonly eastOf: ReadonlyMap<string, number>
}

export function gridKey(column: number, row: number): string {
  return `${column} ${row}`
}

/** Draws the street grid with its bridges, the roundabout, signals and turn restrictions. */
export function drawStreets(city: CityBuilder, removed: ReadonlySet<string>): Streets {
  const northOf = new Map<string, number>()
  const eastOf = new Map<string, number>()
  drawRoundabout(city)
  for (const part of [SOUTH, NORTH]) {
    for (let row = part.south; row <= part.north; row++) {
      for (const run of runs(part.west, part.east, (c) => !removed.has(`E ${gridKey(c, row)}`))) {
        const line = stretch(run.map((column): [number, number] => [column, row]))
        const id = city.way(line, streetTags(rowClass(row), ROW_NAMES[row + 9]!, rowExtras(row, run[0]!)))
        for (const column of run.slice(0, -1)) eastOf.set(gridKey(column, row), id)
      }
    }
    for (let column = part.west; column <= part.east; column++) {
      for (const run of runs(
        part.south,
        part.north,
        (r) => !removed.has(`N ${gridKey(column, r)}`) && !breaksColumn(column, r),
      )) {
        const line = stretch(run.map((row): [number, number] => [column, row]))
        const id = city.way(line, streetTags(columnClass(column), COLUMN_NAMES[column + 9]!, columnExtras(column)))
        for (const row of run.slice(0, -1)) northOf.set(gridKey(column, row), id)
      }
    }
  }
  for (const [column, row] of SIGNALS) city.node(gridPoint(column, row), { highway: 'traffic_signals' })
  for (const column of [-2, -1, 1, 2]) city.node(gridPoint(column, -3), { highway: 'crossing', crossing: 'zebra' })
  return { northOf, eastOf }
}

/** The bridges over the river: a primary road, a minor one, and one for feet. */
export function drawBridges(city: CityBuilder): void {
  bridge(
    city,
    0,
    streetTags('primary', 'Alte Brücke', { ref: 'B 12', maxspeed: '50', lanes: '2', sidewalk: 'both' }),
    {},
  )
  bridge(city, 5, streetTags('tertiary', 'Neue Brücke', { maxspeed: '50', maxweight: '7.5' }), {})
  const foot = { highway: 'footway', name: 'Aue-Steg', surface: 'wood', bicycle: 'dismount' }
  bridge(city, -4, foot, { barrier: 'bollard', foot: 'yes', bicycle: 'yes', motor_vehicle: 'no' })
}

/** From the last row south of the river to the first one north of it. */
function bridge(city: CityBuilder, column: number, tags: CityTags, barrier: CityTags): void {
  const from = gridPoint(column, SOUTH.north)
  const to = gridPoint(column, NORTH.south)
  const at = (y: number): Point => between(from, to, (y - from[1]) / (to[1] - from[1]))
  const middle = riverY(between(from, to, 0.5)[0])
  const south = at(middle - RIVER_WIDTH / 2 - 12)
  const north = at(middle + RIVER_WIDTH / 2 + 12)
  city.way([from, south], tags)
  city.way([south, at(middle), north], { ...tags, bridge: 'yes', layer: '1' })
  city.way([north, to], tags)
  if (Object.keys(barrier).length > 0) city.node(south, barrier)
}

function drawRoundabout(city: CityBuilder): void {
  const ring = Array.from({ length: 12 }, (_, i) => roundaboutPoint((i / 12) * 2 * Math.PI))
  city.area(ring, { highway: 'tertiary', junction: 'roundabout', name: 'Südkreisel', oneway: 'yes', maxspeed: '30' })
}

/** A point of the roundabout, by its angle from the east. */
export function roundaboutPoint(angle: number): Point {
  const [x, y] = gridPoint(ROUNDABOUT.column, ROUNDABOUT.row)
  return [x + Math.cos(angle) * ROUNDABOUT.radius, y + Math.sin(angle) * ROUNDABOUT.radius]
}

/** The points of a street through grid crossings, with a bend between each two; at the roundabout it meets the ring. */
function stretch(crossings: readonly (readonly [number, number])[]): Point[] {
  const points: Point[] = []
  for (const [i, [column, row]] of crossings.entries()) {
    const [nextColumn, nextRow] = crossings[i + 1] ?? [column, row]
    points.push(streetEnd(column, row, crossings[i - 1] ?? crossings[i + 1]))
    const last = i + 1 === crossings.length
    if (!last) points.push(bend(column, row, nextColumn, nextRow))
  }
  return points
}

function streetEnd(column: number, row: number, towardsCrossing: readonly [number, number] | undefined): Point {
  if (column !== ROUNDABOUT.column || row !== ROUNDABOUT.row || !towardsCrossing) return gridPoint(column, row)
  return roundaboutPoint(Math.atan2(towardsCrossing[1] - row, towardsCrossing[0] - column))
}

function bend(column: number, row: number, nextColumn: number, nextRow: number): Point {
  const [x, y] = between(gridPoint(column, row), gridPoint(nextColumn, nextRow), 0.5)
  return nextColumn > column ? [x, y + 2 * Math.sin(column * 1.7)] : [x + 2 * Math.sin(row * 1.3), y]
}

/** Streets are ways of at most this many blocks, as people draw them. */
const BLOCKS_PER_WAY = 6

/** Consecutive grid lines that are joined, cut at breaks and after some blocks; the next one starts where one ends. */
function runs(first: number, last: number, joined: (at: number) => boolean): number[][] {
  const found: number[][] = []
  let run = [first]
  for (let at = first; at < last; at++) {
    if (joined(at)) run.push(at + 1)
    if (!joined(at) || run.length > BLOCKS_PER_WAY || mustCut(at + 1)) {
      if (run.length > 1) found.push(run)
      run = [at + 1]
    }
  }
  if (run.length > 1) found.push(run)
  return found
}

/** Turn restrictions need ways that end where the main road crosses. */
function mustCut(at: number): boolean {
  return at === 0 || at === -3 || at === -8
}

function breaksColumn(column: number, row: number): boolean {
  // South of the roundabout the main road is a dual carriageway that is drawn with the trunk roads.
  return column === 0 && row < ROUNDABOUT.row
}

type StreetClass =
  | 'primary'
  | 'secondary'
  | 'tertiary'
  | 'residential'
  | 'living_street'
  | 'pedestrian'
  | 'unclassified'

function rowClass(row: number): StreetClass {
  if (row === -3) return 'secondary'
  if (row === -8 || row === 0 || row === 5) return 'tertiary'
  return row === -2 ? 'living_street' : 'residential'
}

function columnClass(column: number): StreetClass {
  if (column === 0) return 'primary'
  if (Math.abs(column) === 6 || column === 5) return 'tertiary'
  return column > 6 ? 'unclassified' : 'residential'
}

function rowExtras(row: number, column: number): CityTags {
  if (row === -4 && Math.abs(column) < 7) return { oneway: 'yes', 'oneway:bicycle': 'no' }
  if (row === -5) return { oneway: '-1' }
  if (row === -3) return { ref: 'St 2074', cycleway: 'lane' }
  return {}
}

function columnExtras(column: number): CityTags {
  if (column === -1) return { oneway: 'yes', 'oneway:bicycle': 'no' }
  if (column === 1) return { oneway: '-1', bicycle: 'yes' }
  if (column === 0) return { ref: 'B 12', lanes: '2' }
  if (column === 8) return { hgv: 'destination', surface: 'concrete' }
  return column === -8 ? { surface: 'paving_stones', motor_vehicle: 'destination' } : {}
}

function streetTags(highway: StreetClass, name: string, extras: CityTags): CityTags {
  const urban = highway === 'primary' || highway === 'secondary' || highway === 'tertiary' || highway === 'unclassified'
  const maxspeed = highway === 'living_street' ? {} : { maxspeed: urban ? '50' : '30' }
  return { highway, name, surface: 'asphalt', lit: 'yes', sidewalk: urban ? 'both' : 'right', ...maxspeed, ...extras }
}
