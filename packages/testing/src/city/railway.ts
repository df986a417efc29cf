import type { CityBuilder, Point } from './builder.ts'
import { HALF, gridPoint } from './plan.ts'
import { box } from './shapes.ts'
import { RAIL_Y } from './trunk-roads.ts'

const RAIL = {
  railway: 'rail',
  usage: 'main',
  electrified: 'contact_line',
  gauge: '1435',
  maxspeed: '160',
  name: 'Auetalbahn',
}

/** Draws the railway with its station, and the bus lines. */
export function drawRailway(city: CityBuilder): void {
  const crossing: Point = [gridPoint(-6, -9)[0] - 20, RAIL_Y]
  const line: Point[] = [[-HALF, RAIL_Y - 40], [-1000, RAIL_Y - 10], crossing, [-200, RAIL_Y], [0, RAIL_Y], [180, RAIL_Y], [400, RAIL_Y], [900, RAIL_Y + 20], [HALF, RAIL_Y + 70]] // prettier-ignore
  city.way(line, RAIL)
  city.way([[180, RAIL_Y], [210, RAIL_Y - 9], [370, RAIL_Y - 9], [400, RAIL_Y]], { ...RAIL, usage: 'branch', service: 'siding', maxspeed: '40' }) // prettier-ignore
  const platform = box([220, RAIL_Y + 4], [1, 0], 140, 6)
  city.area(platform, { railway: 'platform', public_transport: 'platform', area: 'yes', ref: '1' })
  const station = {
    railway: 'station',
    public_transport: 'station',
    name: 'Auenstadt Bahnhof',
    operator: 'Auetalbahn',
    train: 'yes',
  }
  city.node([290, RAIL_Y], station)
  city.area(box([250, RAIL_Y + 16], [1, 0], 48, 14), {
    building: 'train_station',
    name: 'Bahnhof',
    'building:levels': '2',
    height: '9',
  })
  city.way([[290, RAIL_Y + 12], [290, RAIL_Y + 45], [235, -1030]], { highway: 'footway', surface: 'paving_stones' }) // prettier-ignore
}

interface BusLine {
  readonly ref: string
  readonly from: string
  readonly to: string
  readonly colour: string
  readonly ways: readonly number[]
  readonly stops: readonly (readonly [name: string, column: number, row: number])[]
}

/** Draws a bus line and its stops beside the road. */
export function drawBusLine(city: CityBuilder, line: BusLine): void {
  const stops = line.stops.map(([name, column, row]) => {
    const [x, y] = gridPoint(column, row)
    const tags = { highway: 'bus_stop', public_transport: 'platform', bus: 'yes', name, shelter: 'yes', network: 'AVV' }
    return city.node([x + 6, y + 9], tags)
  })
  city.relation(
    {
      type: 'route',
      route: 'bus',
      ref: line.ref,
      from: line.from,
      to: line.to,
      name: `Bus ${line.ref}: ${line.from} – ${line.to}`,
      network: 'AVV',
      operator: 'Stadtwerke Auenstadt',
      colour: line.colour,
    },
    ...stops.map((stop) => ['node', stop, 'platform'] as const),
    ...line.ways.map((way) => ['way', way, ''] as const),
  )
}
