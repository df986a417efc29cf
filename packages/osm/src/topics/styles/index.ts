import addresses from './addresses.json' with { type: 'json' }
import all from './all.json' with { type: 'json' }
import barriers from './barriers.json' with { type: 'json' }
import boundaries from './boundaries.json' with { type: 'json' }
import buildings from './buildings.json' with { type: 'json' }
import entrances from './entrances.json' with { type: 'json' }
import landuse from './landuse.json' with { type: 'json' }
import manMade from './man-made.json' with { type: 'json' }
import natural from './natural.json' with { type: 'json' }
import places from './places.json' with { type: 'json' }
import pois from './pois.json' with { type: 'json' }
import power from './power.json' with { type: 'json' }
import railways from './railways.json' with { type: 'json' }
import routes from './routes.json' with { type: 'json' }
import streets from './streets.json' with { type: 'json' }
import traffic from './traffic.json' with { type: 'json' }
import transit from './transit.json' with { type: 'json' }
import water from './water.json' with { type: 'json' }
import waterways from './waterways.json' with { type: 'json' }

/** The styles of the topics, in the order of their tables. */
export const STYLES = {
  buildings,
  streets,
  railways,
  waterways,
  water,
  landuse,
  natural,
  places,
  pois,
  boundaries,
  transit,
  addresses,
  routes,
  barriers,
  power,
  traffic,
  entrances,
  man_made: manMade,
  all,
} as const
