import type { CityBuilder, Point } from './builder.ts'
import type { Plan } from './plan.ts'
import { RIVER_WIDTH, gridPoint, riverY } from './plan.ts'
import { RAIL_Y } from './trunk-roads.ts'
import { between, offset } from './shapes.ts'
import { gridKey, type Streets } from './streets.ts'

/** Draws paths, tracks, service roads, the level crossing, the ferries and the turn restrictions of the streets. */
export function drawMinorRoads(city: CityBuilder, plan: Plan, streets: Streets): void {
  drawPromenade(city, plan)
  drawParkPaths(city)
  drawSouthernRoad(city)
  drawServiceRoads(city)
  drawFerries(city)
  drawTracks(city)
  drawRestrictions(city, streets)
}

/** A way for feet and bicycles along the southern bank, with steps to the quay. */
function drawPromenade(city: CityBuilder, plan: Plan): void {
  const bank = offset(plan.river, -(RIVER_WIDTH / 2 + 22)).filter(([x]) => x > -930 && x < 930)
  const ends: Point[] = [gridPoint(-9, 1), ...bank, gridPoint(8, 1)]
  city.way(ends, {
    highway: 'cycleway',
    foot: 'designated',
    bicycle: 'designated',
    segregated: 'no',
    surface: 'compacted',
  })
  const step = bank[Math.floor(bank.length / 3)]!
  city.way([step, [step[0] - 4, step[1] + 8]], { highway: 'steps', incline: 'down', step_count: '14' })
}

function drawParkPaths(city: CityBuilder): void {
  const corners = [gridPoint(-4, -8), gridPoint(-3, -8), gridPoint(-3, -7), gridPoint(-4, -7)] as const
  const middle: Point = [between(corners[0], corners[2], 0.5)[0] + 45, between(corners[0], corners[2], 0.5)[1]]
  const path = { highway: 'path', foot: 'designated', bicycle: 'yes', surface: 'fine_gravel' }
  city.way([corners[0], [-375, -705], [-330, -702], middle], path) // prettier-ignore
  city.way([middle, corners[2]], path)
  city.way([corners[3], [-375, -645], [-325, -648], middle], { ...path, highway: 'footway' }) // prettier-ignore
}

/** A road out of the town, over the rails with barriers and over the motorway on a bridge. */
function drawSouthernRoad(city: CityBuilder): void {
  const [x, y] = gridPoint(-6, -9)
  const crossing: Point = [x - 20, RAIL_Y]
  const tags = { highway: 'tertiary', name: 'Moosstraße', maxspeed: '70', surface: 'asphalt' }
  city.way([[x, y], [x - 5, -950], crossing, [x - 30, -1180], [x - 34, -1230]], tags) // prettier-ignore
  city.way([[x - 34, -1230], [x - 38, -1310]], { ...tags, bridge: 'yes', layer: '1' }) // prettier-ignore
  city.way([[x - 38, -1310], [x - 120, -1400], [x - 120, -1500]], tags) // prettier-ignore
  city.node(crossing, { railway: 'level_crossing', 'crossing:barrier': 'full' })
}

function drawServiceRoads(city: CityBuilder): void {
  const gate: Point = [760, -700]
  city.way([gridPoint(7, -8), [730, -700], gate], { highway: 'service', surface: 'asphalt' }) // prettier-ignore
  city.way([gate, [800, -690], [810, -640], [770, -630], gate], { highway: 'service', access: 'private' }) // prettier-ignore
  city.node(gate, { barrier: 'gate', access: 'private', foot: 'yes' })
  const lot = between(gridPoint(2, -9), gridPoint(3, -9), 0.5)
  const aisle: Point = [lot[0], lot[1] - 40]
  city.way([lot, aisle], { highway: 'service', service: 'driveway' })
  city.way([aisle, [aisle[0] + 60, aisle[1] - 4]], { highway: 'service', service: 'parking_aisle', oneway: 'yes' })
  city.way([[aisle[0] + 60, aisle[1] - 4], [aisle[0] + 55, aisle[1] - 22], [aisle[0] - 4, aisle[1] - 18], aisle], { highway: 'service', service: 'parking_aisle' }) // prettier-ignore
  const bus = gridPoint(3, -9)
  city.way([bus, [bus[0] + 10, -900], [bus[0] - 60, -1030]], { highway: 'service', bus: 'yes', motor_vehicle: 'no', bicycle: 'yes' }) // prettier-ignore
}

/** A car ferry in the west, where there is no bridge, and a boat to the island in the lake. */
function drawFerries(city: CityBuilder): void {
  const x = -1150
  const middle = riverY(x)
  const south: Point = [x, middle - RIVER_WIDTH / 2 - 6]
  const north: Point = [x, middle + RIVER_WIDTH / 2 + 6]
  const road = { highway: 'unclassified', name: 'Fährstraße', maxspeed: '50', surface: 'asphalt' }
  city.way([gridPoint(-9, -3), [-1020, -230], [-1140, -60], south], road) // prettier-ignore
  city.way([north, [-1130, 520], [-700, 640], gridPoint(-4, 7)], road) // prettier-ignore
  city.way([south, [x, middle], north], { route: 'ferry', name: 'Auefähre', motor_vehicle: 'yes', foot: 'yes', bicycle: 'yes', duration: '00:04' }) // prettier-ignore
  const pier: Point = [690, 900]
  city.way([gridPoint(5, 8), [600, 790], pier], { highway: 'footway', surface: 'paving_stones' }) // prettier-ignore
  city.way([pier, [850, 930], [1000, 955]], { route: 'ferry', name: 'Inselboot', foot: 'yes', bicycle: 'no', motor_vehicle: 'no', duration: '00:10' }) // prettier-ignore
  city.way([[1000, 955], [1040, 962], [1080, 958]], { highway: 'path', surface: 'ground' }) // prettier-ignore
  for (const ferryPier of [south, north, pier, [1000, 955] as const])
    city.node(ferryPier, { amenity: 'ferry_terminal' })
}

function drawTracks(city: CityBuilder): void {
  city.way([gridPoint(-4, 9), [-620, 900], [-900, 940], [-1060, 1050], [-1150, 1200]], { highway: 'track', tracktype: 'grade2', surface: 'gravel' }) // prettier-ignore
  city.way([[-900, 940], [-980, 860], [-1180, 900]], { highway: 'path', sac_scale: 'hiking', foot: 'yes' }) // prettier-ignore
  city.way([gridPoint(9, -3), [1050, -300], [1250, -260], [1500, -280]], { highway: 'unclassified', name: 'Seehauser Weg', maxspeed: '80', surface: 'asphalt' }) // prettier-ignore
  city.way([[1250, -260], [1240, -520], [1260, -900]], { highway: 'track', tracktype: 'grade3' }) // prettier-ignore
  city.way([gridPoint(5, 7), [700, 700], [1000, 640], [1380, 700], [1500, 690]], { highway: 'tertiary', name: 'Seestraße', maxspeed: '70', surface: 'asphalt', cycleway: 'track' }) // prettier-ignore
}

/** No left turn from the main road into the old town, straight on only before the market, no U-turn at the big crossing. */
function drawRestrictions(city: CityBuilder, streets: Streets): void {
  const south = (column: number, row: number): number => streets.northOf.get(gridKey(column, row - 1))!
  const north = (column: number, row: number): number => streets.northOf.get(gridKey(column, row))!
  const west = (column: number, row: number): number => streets.eastOf.get(gridKey(column - 1, row))!
  const east = (column: number, row: number): number => streets.eastOf.get(gridKey(column, row))!
  const via = (column: number, row: number): number => city.node(gridPoint(column, row))
  const restrict = (kind: string, from: number, node: number, to: number, more: Record<string, string> = {}): void => {
    const tags = { type: 'restriction', restriction: kind, ...more }
    city.relation(tags, ['way', from, 'from'], ['node', node, 'via'], ['way', to, 'to'])
  }
  restrict('no_left_turn', south(0, -3), via(0, -3), west(0, -3), { except: 'bicycle;psv' })
  restrict('only_straight_on', east(-1, -3), via(0, -3), east(0, -3))
  restrict('no_u_turn', south(0, 0), via(0, 0), south(0, 0))
  restrict('no_right_turn', north(0, 0), via(0, 0), west(0, 0), { 'restriction:hgv': 'no_right_turn' })
}
