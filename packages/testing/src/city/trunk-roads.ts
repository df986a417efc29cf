import type { CityTags } from './element.ts'
import type { CityBuilder, Point } from './builder.ts'
import { HALF, gridPoint } from './plan.ts'
import { roundaboutPoint } from './streets.ts'

/** The railway runs south of the town. */
export const RAIL_Y = -1085

const PRIMARY: CityTags = { highway: 'primary', ref: 'B 12', surface: 'asphalt' }
const MOTORWAY: CityTags = {
  highway: 'motorway',
  ref: 'A 9',
  oneway: 'yes',
  lanes: '2',
  maxspeed: '120',
  surface: 'asphalt',
  foot: 'no',
  bicycle: 'no',
}
const LINK: CityTags = { highway: 'motorway_link', oneway: 'yes', lanes: '1', maxspeed: '60', surface: 'asphalt' }

/** Draws the main road south of the town, the motorway with its junction, and the main road north of the town. */
export function drawTrunkRoads(city: CityBuilder): void {
  drawDualCarriageway(city)
  const rural = { ...PRIMARY, maxspeed: '70', lanes: '2' }
  city.way([[0, -1000], [0, -1040]], { ...rural, cycleway: 'track' }) // prettier-ignore
  city.way([[0, -1040], [0, RAIL_Y], [0, -1130]], { ...rural, bridge: 'yes', layer: '1', maxheight: '4.2' }) // prettier-ignore
  city.way([[0, -1130], [0, -1190], [0, -1215]], rural) // prettier-ignore
  city.way([[0, -1215], [0, -1250], [0, -1285]], { ...rural, bridge: 'yes', layer: '1' }) // prettier-ignore
  city.way([[0, -1285], [0, -1310], [20, -1420], [0, -HALF]], { ...rural, maxspeed: '100' }) // prettier-ignore
  drawMotorway(city)
  const north = gridPoint(0, 9)
  city.way([north, [30, 1000], [-10, 1200], [40, 1380], [0, HALF]], { ...PRIMARY, maxspeed: '100', lanes: '2' }) // prettier-ignore
}

/** Two carriageways between the roundabout and the railway, joined half-way by a link that must not be used to turn round. */
function drawDualCarriageway(city: CityBuilder): void {
  const tags = { ...PRIMARY, name: 'Südallee', oneway: 'yes', lanes: '2', maxspeed: '50', lit: 'yes' }
  const roundabout = roundaboutPoint(-Math.PI / 2)
  const fork: Point = [0, -765]
  city.way([roundabout, fork], { ...PRIMARY, name: 'Südallee', maxspeed: '50', lit: 'yes' })
  const south = [fork, [-7, -775], [-7, -880]] as const
  const southOn = city.way([[-7, -880], [-7, -990], [0, -1000]], tags) // prettier-ignore
  city.way(south, tags)
  const northIn = city.way([[0, -1000], [7, -990], [7, -880]], tags) // prettier-ignore
  city.way([[7, -880], [7, -775], fork], tags) // prettier-ignore
  const link = city.way([[-7, -880], [7, -880]], { highway: 'service', surface: 'asphalt' }) // prettier-ignore
  // From the north-bound carriageway over the link back to the south: a restriction by way of a way.
  city.relation(
    { type: 'restriction', restriction: 'no_u_turn', except: 'psv' },
    ['way', northIn, 'from'],
    ['way', link, 'via'],
    ['way', southOn, 'to'],
  )
}

function drawMotorway(city: CityBuilder): void {
  const stretch = (from: number, to: number, side: number): Point[] => {
    const steps = Math.ceil(Math.abs(to - from) / 120)
    return Array.from({ length: steps + 1 }, (_, i) => motorwayPoint(from + ((to - from) * i) / steps, side))
  }
  // Traffic keeps right: east-bound is the southern carriageway.
  const cuts = [-HALF, -420, 420, HALF] as const
  for (const [i, from] of cuts.slice(0, -1).entries()) {
    const to = cuts[i + 1]!
    city.way(stretch(from, to, -8), { ...MOTORWAY, destination: i === 0 ? 'Seehausen;Auenstadt' : 'Seehausen' })
    city.way(stretch(to, from, 8), { ...MOTORWAY, destination: i === 2 ? 'Bergheim;Auenstadt' : 'Bergheim' })
  }
  const junction = { highway: 'motorway_junction', ref: '23', name: 'Auenstadt' }
  city.node(motorwayPoint(-420, -8), junction)
  city.node(motorwayPoint(420, 8), junction)
  const off = { ...LINK, destination: 'Auenstadt;Grünsee', 'destination:ref': 'B 12' }
  city.way([motorwayPoint(-420, -8), [-250, -1290], [-70, -1316], [0, -1310]], off) // prettier-ignore
  city.way([motorwayPoint(420, 8), [250, -1214], [70, -1184], [0, -1190]], off) // prettier-ignore
  city.way([[0, -1310], [70, -1316], [250, -1290], motorwayPoint(420, -8)], { ...LINK, destination: 'Seehausen', 'destination:ref': 'A 9' }) // prettier-ignore
  city.way([[0, -1190], [-70, -1184], [-250, -1214], motorwayPoint(-420, 8)], { ...LINK, destination: 'Bergheim', 'destination:ref': 'A 9' }) // prettier-ignore
  for (const y of [-1190, -1310]) city.node([0, y], { highway: 'give_way' })
}

/** A point of a carriageway, `side` metres north of the middle of the motorway. */
function motorwayPoint(x: number, side: number): Point {
  return [x, -1250 + 30 * Math.sin(x / 900) + side]
}
