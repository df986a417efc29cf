import type { CityTags } from './element.ts'
import type { CityBuilder, Point } from './builder.ts'
import { COLUMN_NAMES, ROW_NAMES } from './names.ts'
import { gridPoint } from './plan.ts'
import { box, towards } from './shapes.ts'
import { NORTH, SOUTH } from './streets.ts'

/** Distance of a house from the middle of its street, and its size, in metres. */
const SETBACK = 11
const FRONTAGE = 15
const DEPTH = 10

/** Blocks without rows of houses: the park, the market, the school and the hospital. */
const OPEN_BLOCKS: ReadonlySet<string> = new Set(['-4 -8', '0 -3', '-6 -2', '3 -6'])

/** Positions where shops may be placed. */
export interface Houses {
  /** Points in front of houses in the middle of the town, with street and number. */
  readonly fronts: readonly { readonly point: Point; readonly street: string; readonly number: string }[]
}

/** Draws houses along all streets, blocks with courtyards in the middle of the town, and large buildings in the east. */
export function drawBuildings(city: CityBuilder, random: () => number): Houses {
  const fronts: Houses['fronts'][number][] = []
  const numbers = new Map<string, number>()
  const nextNumber = (street: string, side: 0 | 1): string => {
    const key = `${street} ${side}`
    const number = (numbers.get(key) ?? side - 1) + 2
    numbers.set(key, number)
    return String(number)
  }
  for (const part of [SOUTH, NORTH]) {
    for (let row = part.south; row < part.north; row++) {
      for (let column = part.west; column < part.east; column++) {
        if (OPEN_BLOCKS.has(`${column} ${row}`)) continue
        if (column >= 6 && row < -6) drawHall(city, column, row, random)
        else if (Math.abs(column + 0.5) < 3 && row >= -5 && row < -1) drawCourtyard(city, column, row)
        else drawRows(city, column, row, random, nextNumber, fronts)
      }
    }
  }
  drawPublicBuildings(city)
  return { fronts }
}

/** Houses along the four sides of a block, each with the address of its street. */
function drawRows(
  city: CityBuilder,
  column: number,
  row: number,
  random: () => number,
  nextNumber: (street: string, side: 0 | 1) => string,
  fronts: Houses['fronts'][number][],
): void {
  const corners = [
    gridPoint(column, row),
    gridPoint(column + 1, row),
    gridPoint(column + 1, row + 1),
    gridPoint(column, row + 1),
  ]
  const streets = [ROW_NAMES[row + 9]!, COLUMN_NAMES[column + 10]!, ROW_NAMES[row + 10]!, COLUMN_NAMES[column + 9]!]
  for (const [side, corner] of corners.entries()) {
    const { direction, distance } = towards(corner, corners[(side + 1) % 4]!)
    const inner: Point = [-direction[1], direction[0]]
    const pitch = FRONTAGE + 4 + random() * 5
    for (let along = SETBACK + DEPTH + 3; along + FRONTAGE < distance - SETBACK - DEPTH - 3; along += pitch) {
      if (random() < 0.06) continue
      const depth = DEPTH + random() * 3
      const start: Point = [
        corner[0] + direction[0] * along + inner[0] * SETBACK,
        corner[1] + direction[1] * along + inner[1] * SETBACK,
      ]
      const street = streets[side]!
      const number = nextNumber(street, side < 2 ? 1 : 0)
      const levels = 1 + Math.floor(random() * 3)
      city.area(box(start, direction, FRONTAGE, depth), {
        building: random() < 0.8 ? 'house' : 'apartments',
        ...address(street, number),
        'building:levels': String(levels),
        height: String(levels * 3 + 3),
        'roof:shape': 'gabled',
      })
      if (Math.abs(column) < 4)
        fronts.push({ point: [start[0] + inner[0] * 2, start[1] + inner[1] * 2], street, number })
    }
  }
}

/** One closed block of houses around a yard, as a multipolygon. */
function drawCourtyard(city: CityBuilder, column: number, row: number): void {
  const corners = [
    gridPoint(column, row),
    gridPoint(column + 1, row),
    gridPoint(column + 1, row + 1),
    gridPoint(column, row + 1),
  ]
  const middle: Point = [average(corners, 0), average(corners, 1)]
  const shrunk = (by: number): Point[] =>
    corners.map((corner) => {
      const { direction, distance } = towards(middle, corner)
      return [middle[0] + direction[0] * (distance - by), middle[1] + direction[1] * (distance - by)]
    })
  const outer = city.area(shrunk(15), {})
  const inner = city.area(shrunk(33), {})
  const tags = {
    type: 'multipolygon',
    building: 'apartments',
    'building:levels': '4',
    height: '15',
    ...address(ROW_NAMES[row + 9]!, String(Math.abs(column) * 2 + 40)),
  }
  city.relation(tags, ['way', outer, 'outer'], ['way', inner, 'inner'])
}

function drawHall(city: CityBuilder, column: number, row: number, random: () => number): void {
  const [x, y] = gridPoint(column, row)
  const width = 45 + random() * 20
  city.area(box([x + 18, y + 18], [1, 0], width, 38 + random() * 12), {
    building: random() < 0.5 ? 'industrial' : 'warehouse',
    height: '11',
    ...address(COLUMN_NAMES[column + 9]!, String(row + 20)),
  })
}

function drawPublicBuildings(city: CityBuilder): void {
  const [marketX, marketY] = gridPoint(0, -3)
  const market = box([marketX + 14, marketY + 14], [1, 0], 66, 56)
  city.area(market, { highway: 'pedestrian', area: 'yes', name: 'Marktplatz', surface: 'sett' })
  city.area(box([marketX + 30, marketY + 48], [1, 0], 30, 16), {
    building: 'civic',
    amenity: 'townhall',
    name: 'Rathaus',
    height: '18',
    ...address('Marktplatz', '1'),
  })
  const [schoolX, schoolY] = gridPoint(-6, -2)
  city.area(box([schoolX + 14, schoolY + 14], [1, 0], 70, 55), { amenity: 'school', name: 'Grundschule am Park' })
  city.area(box([schoolX + 22, schoolY + 22], [1, 0], 40, 12), { building: 'school', 'building:levels': '3' })
  city.area(box([schoolX + 24, schoolY + 42], [1, 0], 44, 22), { leisure: 'pitch', sport: 'soccer', surface: 'grass' })
  const [hospitalX, hospitalY] = gridPoint(3, -6)
  city.area(box([hospitalX + 14, hospitalY + 14], [1, 0], 68, 55), {
    amenity: 'hospital',
    name: 'Klinikum Auenstadt',
    emergency: 'yes',
  })
  city.area(box([hospitalX + 24, hospitalY + 24], [1, 0], 45, 26), {
    building: 'hospital',
    'building:levels': '5',
    height: '19',
  })
  city.area(box([-70, 470], [1, 0], 18, 34), {
    building: 'church',
    amenity: 'place_of_worship',
    religion: 'christian',
    name: 'St. Martin',
    height: '41',
  })
  city.area(box([-200, 910], [1, 0], 90, 60), { amenity: 'grave_yard', name: 'Friedhof' })
  const lot: Point[] = [[245, -890], [318, -895], [322, -925], [238, -925]] // prettier-ignore
  city.area(lot, { amenity: 'parking', parking: 'surface', capacity: '60', fee: 'no', name: 'P1 Süd' })
}

function average(points: readonly Point[], axis: 0 | 1): number {
  return points.reduce((sum, point) => sum + point[axis], 0) / points.length
}

function address(street: string, number: string): CityTags {
  return { 'addr:street': street, 'addr:housenumber': number, 'addr:postcode': '85999', 'addr:city': 'Auenstadt' }
}
