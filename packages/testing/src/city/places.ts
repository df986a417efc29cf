import type { CityTags } from './element.ts'
import type { Houses } from './buildings.ts'
import type { CityBuilder, Point } from './builder.ts'
import { TOWN } from './names.ts'
import { HALF, type Plan } from './plan.ts'

const BUSINESSES: readonly CityTags[] = [
  { amenity: 'restaurant', name: 'Zum Goldenen Anker', cuisine: 'regional' },
  { amenity: 'cafe', name: 'Café Auenblick', cuisine: 'coffee_shop', wheelchair: 'yes' },
  { shop: 'bakery', name: 'Bäckerei Huber', opening_hours: 'Mo-Sa 06:00-18:00' },
  { amenity: 'pharmacy', name: 'Löwen-Apotheke', healthcare: 'pharmacy' },
  { shop: 'supermarket', name: 'Frischmarkt', brand: 'Frischmarkt', opening_hours: 'Mo-Sa 07:00-20:00' },
  { amenity: 'bank', name: 'Sparbank Auenstadt', atm: 'yes' },
  { shop: 'books', name: 'Buchhandlung am Markt' },
  { amenity: 'fast_food', name: 'Döner Palast', cuisine: 'kebab' },
  { office: 'lawyer', name: 'Kanzlei Berger' },
  { shop: 'hairdresser', name: 'Haarwerk' },
  { amenity: 'dentist', name: 'Dr. Weiß', healthcare: 'dentist' },
  { amenity: 'bicycle_parking', capacity: '12' },
  { tourism: 'hotel', name: 'Hotel Post', stars: '3' },
  { craft: 'carpenter', name: 'Schreinerei Moser' },
  { amenity: 'bar', name: 'Zur Schleuse' },
  { shop: 'clothes', name: 'Modehaus Adler' },
]

const SIGHTS: readonly (readonly [Point, CityTags])[] = [
  [[40, -230], { historic: 'monument', name: 'Marktbrunnen' }],
  [[30, -205], { amenity: 'drinking_water' }],
  [[25, -250], { amenity: 'bench', backrest: 'yes' }],
  [[-18, -470], { amenity: 'fuel', name: 'Tankstelle Süd', brand: 'Aral' }],
  [[1210, 1325], { tourism: 'viewpoint', name: 'Aussicht Grünberg' }],
  [[820, 640], { tourism: 'camp_site', name: 'Camping am See' }],
  [[290, -1060], { amenity: 'taxi', capacity: '4' }],
  [[-350, -660], { tourism: 'artwork', artwork_type: 'sculpture', name: 'Die Wasserträgerin' }],
  [[-340, -690], { amenity: 'toilets', fee: 'no', wheelchair: 'yes' }],
]

/** Puts shops in front of the houses, sights where they belong, names on the places and borders around them. */
export function drawPlaces(city: CityBuilder, plan: Plan, houses: Houses, random: () => number): void {
  for (const { point, street, number } of houses.fronts) {
    if (random() > 0.14) continue
    const business = BUSINESSES[Math.floor(random() * BUSINESSES.length)]!
    city.node(point, { ...business, 'addr:street': street, 'addr:housenumber': number })
  }
  for (const [point, tags] of SIGHTS) city.node(point, tags)
  const town = city.node([4, -262], {
    place: 'town',
    name: TOWN,
    'name:en': 'Meadowton',
    population: '12 400',
    ele: '498',
    wikidata: 'Q0',
  })
  city.node([60, 640], { place: 'suburb', name: 'Nordau', population: '2100' })
  city.node([-700, -500], { place: 'neighbourhood', name: 'Westviertel' })
  city.node([1440, -300], { place: 'hamlet', name: 'Seehausen' })
  drawBoundaries(city, plan, town)
}

/** The municipality, and its part north of the river: the river is a border of both. */
function drawBoundaries(city: CityBuilder, plan: Plan, town: number): void {
  const west: Point = [-HALF, plan.river[1]![1]]
  const east: Point = [HALF, plan.river.at(-2)![1]]
  const inside = plan.river.filter(([x]) => Math.abs(x) < HALF)
  const line = { boundary: 'administrative', admin_level: '8' }
  const north = city.way([west, [-HALF, HALF], [HALF, HALF], east], line) // prettier-ignore
  const south = city.way([east, [HALF, -HALF], [-HALF, -HALF], west], line) // prettier-ignore
  const middle = city.way([west, ...inside, east], { boundary: 'administrative', admin_level: '10' })
  const tags = { type: 'boundary', boundary: 'administrative' }
  city.relation(
    { ...tags, admin_level: '8', name: TOWN, 'ISO3166-2': 'DE-BY', population: '12 400' },
    ['way', north, 'outer'],
    ['way', south, 'outer'],
    ['node', town, 'label'],
  )
  city.relation({ ...tags, admin_level: '10', name: 'Nordau' }, ['way', north, 'outer'], ['way', middle, 'outer'])
}
