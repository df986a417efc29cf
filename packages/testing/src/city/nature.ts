import type { CityBuilder, Point } from './builder.ts'
import { LAKE, RIVER, TOWN } from './names.ts'
import { HALF, type Plan, riverY } from './plan.ts'
import { box } from './shapes.ts'

/** Draws water, forest, fields and the rest of what covers the ground. */
export function drawNature(city: CityBuilder, plan: Plan): void {
  drawWater(city, plan)
  drawForest(city, plan)
  for (const { ring, crop } of plan.fields) {
    city.area(ring, crop === 'grass' ? { landuse: 'meadow' } : { landuse: 'farmland', crop })
  }
  city.area(plan.town, { landuse: 'residential', name: TOWN })
  city.area(plan.northTown, { landuse: 'residential', name: 'Nordau' })
  city.area(plan.industry, { landuse: 'industrial', name: 'Gewerbepark Ost' })
  city.area(plan.park, { leisure: 'park', name: 'Stadtpark' })
  city.area(box([-395, -700], [1, 0], 24, 18), { leisure: 'playground', surface: 'sand' })
  city.way([[-1300, 420], [-1180, 430], [-1020, 425]], { natural: 'tree_row' }) // prettier-ignore
  city.node([1210, 1330], { natural: 'peak', name: 'Grünberg', ele: '612' })
  for (const i of Array.from({ length: 24 }, (_, n) => n)) {
    city.node([-6 + (i % 2) * 12, -120 - i * 11], { natural: 'tree', leaf_type: 'broadleaved' })
  }
}

function drawWater(city: CityBuilder, plan: Plan): void {
  city.way(plan.river, { waterway: 'river', name: RIVER, boat: 'yes', width: '40' })
  // The area of the river is drawn in two ways, the bank of each side with an end.
  const half = plan.riverArea.length / 2
  const south = city.way(plan.riverArea.slice(0, half + 1), {})
  const north = city.way([...plan.riverArea.slice(half), plan.riverArea[0]!], {})
  const riverIsland = city.area(plan.riverIsland, { place: 'islet', natural: 'scrub' })
  city.relation({ type: 'multipolygon', natural: 'water', water: 'river', name: RIVER }, ['way', south, 'outer'], ['way', north, 'outer'], ['way', riverIsland, 'inner']) // prettier-ignore
  const shore = city.way(plan.lake.slice(0, 21), {})
  const shoreBack = city.way([...plan.lake.slice(20), plan.lake[0]!], {})
  const island = city.area(plan.lakeIsland, { place: 'island', name: 'Mönchsinsel', landuse: 'grass' })
  city.relation({ type: 'multipolygon', natural: 'water', water: 'lake', name: LAKE }, ['way', shore, 'outer'], ['way', shoreBack, 'outer'], ['way', island, 'inner']) // prettier-ignore
  city.area(plan.pond, { natural: 'water', water: 'pond', name: 'Ententeich' })
  const mouth: Point = [-620, riverY(-620)]
  city.way([[-700, HALF], [-640, 1200], [-560, 900], [-600, 600], mouth], { waterway: 'stream', name: 'Mühlbach', intermittent: 'no' }) // prettier-ignore
}

function drawForest(city: CityBuilder, plan: Plan): void {
  const first = city.way(plan.forest.slice(0, 19), {})
  const second = city.way([...plan.forest.slice(18), plan.forest[0]!], {})
  const clearing = city.area(plan.clearing, { landuse: 'meadow' })
  city.relation({ type: 'multipolygon', landuse: 'forest', leaf_type: 'mixed', name: 'Nordforst' }, ['way', first, 'outer'], ['way', second, 'outer'], ['way', clearing, 'inner']) // prettier-ignore
}
