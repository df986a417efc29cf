import { seededRandom } from '@terrane/core'
import { drawBuildings } from './buildings.ts'
import { CityBuilder, degrees, type Point } from './builder.ts'
import type { CityElement } from './element.ts'
import { drawMinorRoads } from './minor-roads.ts'
import { drawNature } from './nature.ts'
import { drawPlaces } from './places.ts'
import { HALF, makePlan, type Plan } from './plan.ts'
import { drawBusLine, drawRailway } from './railway.ts'
import { NORTH, SOUTH, drawBridges, drawStreets, gridKey, type Streets } from './streets.ts'
import { drawTrunkRoads } from './trunk-roads.ts'

/** A polygon in degrees: an outer ring and its holes, closed. */
export type CityPolygon = readonly (readonly (readonly [lon: number, lat: number])[])[]

/** Ground cover, for a picture that fits the map: later polygons cover earlier ones. */
export interface CityGround {
  readonly fields: readonly { readonly polygon: CityPolygon; readonly crop: string }[]
  readonly forest: readonly CityPolygon[]
  readonly town: readonly CityPolygon[]
  readonly industry: readonly CityPolygon[]
  readonly park: readonly CityPolygon[]
  readonly water: readonly CityPolygon[]
}

export interface City {
  /** Nodes, ways, relations, each by ascending id. */
  readonly elements: readonly CityElement[]
  /** Header of a file of the town: `writePbf(city.elements, city.header)` makes one. */
  readonly header: {
    /** West, south, east, north in degrees. */
    readonly bbox: readonly [number, number, number, number]
    readonly timestamp: Date
    readonly optionalFeatures: readonly string[]
  }
  readonly ground: CityGround
}

/** When the demo town was surveyed. */
const TIMESTAMP = new Date('2026-01-01T00:00:00Z')

/**
 * A small invented town of 3 by 3 km on a river, with everything that maps, routes and tiles are made of: streets of all
 * classes, a roundabout, signals and turn restrictions, a motorway with a junction, bridges, ferries, a railway, houses
 * with addresses, shops, fields, a forest, a lake with an island, places and borders. The same seed gives the same town.
 */
export function buildCity(seed = 1): City {
  const random = seededRandom(seed)
  const plan = makePlan(seed)
  const city = new CityBuilder()
  const streets = drawStreets(city, removedBlocks(random))
  drawBridges(city)
  drawTrunkRoads(city)
  drawMinorRoads(city, plan, streets)
  drawRailway(city)
  drawNature(city, plan)
  const houses = drawBuildings(city, random)
  drawPlaces(city, plan, houses, random)
  drawBuses(city, streets)
  const [west, south] = degrees([-HALF - 120, -HALF])
  const [east, north] = degrees([HALF + 120, HALF])
  const header = {
    bbox: [west, south, east, north],
    timestamp: TIMESTAMP,
    optionalFeatures: ['Sort.Type_then_ID'],
  } as const
  return { elements: city.elements(), header, ground: groundOf(plan) }
}

/** Streets that are missing from the grid, no two of them at one crossing, so that none is cut off. */
function removedBlocks(random: () => number): ReadonlySet<string> {
  // The dual carriageway of the main road takes the place of the ring road's crossing.
  const removed = new Set(['E -1 -9', 'E 0 -9'])
  const touched = new Set<string>()
  for (const part of [SOUTH, NORTH]) {
    for (let row = part.south + 1; row < part.north; row++) {
      for (let column = part.west + 1; column < part.east - 1; column++) {
        const key = gridKey(column, row)
        const next = gridKey(column + 1, row)
        const minor = row !== -8 && row !== -3 && row !== 0 && Math.abs(column + 0.5) > 1
        if (!minor || touched.has(key) || touched.has(next) || random() > 0.1) continue
        removed.add(`E ${key}`)
        touched.add(key).add(next)
      }
    }
  }
  return removed
}

function drawBuses(city: CityBuilder, streets: Streets): void {
  const along = (row: number): number[] => [
    ...new Set([-6, -3, 0, 3].map((column) => streets.eastOf.get(gridKey(column, row))!)),
  ]
  const up = (column: number): number[] => [
    ...new Set([-8, -3, 0].map((row) => streets.northOf.get(gridKey(column, row))!)),
  ]
  const east = { ref: '1', from: 'Westring', to: 'Ostring', colour: '#c02020', ways: along(-3) }
  drawBusLine(city, { ...east, stops: [['Westring', -6, -3], ['Markt', 0, -3], ['Klinikum', 3, -3], ['Oststraße', 6, -3]] }) // prettier-ignore
  const north = { ref: '2', from: 'Südkreisel', to: 'Alte Brücke', colour: '#2040c0', ways: up(0) }
  drawBusLine(city, { ...north, stops: [['Südkreisel', 0, -7], ['Goethestraße', 0, -6], ['Markt', 0, -3], ['Alte Brücke', 0, 1]] }) // prettier-ignore
}

function groundOf(plan: Plan): CityGround {
  return {
    fields: plan.fields.map(({ ring, crop }) => ({ polygon: polygon(ring), crop })),
    forest: [polygon(plan.forest, plan.clearing)],
    town: [polygon(plan.town), polygon(plan.northTown)],
    industry: [polygon(plan.industry)],
    park: [polygon(plan.park)],
    water: [polygon(plan.riverArea, plan.riverIsland), polygon(plan.lake, plan.lakeIsland), polygon(plan.pond)],
  }
}

function polygon(...rings: (readonly Point[])[]): CityPolygon {
  return rings.map((ring) => [...ring, ring[0]!].map(degrees))
}
