import { writePbf, type OsmElement, type OsmTags } from '@terrane/osm'

/** Size of the town in degrees, from 11.0, 48.0 on. */
const SIZE = 0.1

/** A town on a grid, with features of each topic and known import results. */
export function townElements(): OsmElement[] {
  const elements: OsmElement[] = []
  const ids = new Map<string, number>()
  let nodes = 0
  const point = (x: number, y: number, tags?: OsmTags): number => {
    const key = `${x} ${y}`
    const known = ids.get(key)
    if (known !== undefined && !tags) return known
    const id = ++nodes
    ids.set(key, id)
    const place = { lon: 11 + x * SIZE, lat: 48 + y * SIZE }
    elements.push({ type: 'node', id, ...place, ...(tags && { tags }) })
    return id
  }
  const ways: OsmElement[] = []
  const way = (tags: OsmTags, ...points: (readonly [number, number])[]): number => {
    const id = ways.length + 100
    ways.push({ type: 'way', id, refs: points.map(([x, y]) => point(x, y)), tags })
    return id
  }
  const ring = (tags: OsmTags, x: number, y: number, size: number): number =>
    way(tags, [x, y], [x + size, y], [x + size, y + size], [x, y + size], [x, y])
  for (let i = 1; i < 10; i++) {
    way({ highway: 'residential', name: `Street ${i}`, maxspeed: '30' }, [0, i / 10], [0.5, i / 10], [1, i / 10])
    for (let j = 1; j < 10; j++) {
      const number = `${j}`
      ring({ building: 'house', 'addr:street': `Street ${i}`, 'addr:housenumber': number }, j / 10, i / 10 + 0.02, 0.02)
    }
  }
  way({ railway: 'rail', electrified: 'contact_line' }, [0.05, 0], [0.05, 1])
  const river = way({ waterway: 'river', name: 'River "One"' }, [0, 0.95], [1, 0.95])
  const outer = ring({}, 0.6, 0.6, 0.3)
  const inner = ring({}, 0.7, 0.7, 0.1)
  ring({ landuse: 'meadow' }, 0.01, 0.01, 0.03)
  point(0.5, 0.5, { place: 'town', name: 'Gridham', population: '12 000' })
  point(0.21, 0.21, { shop: 'bakery', name: 'Bread & Butter' })
  point(0.31, 0.31, { natural: 'tree' })
  point(0.41, 0.41, { highway: 'bus_stop', name: 'Stop' })
  const relations = [
    relation(1, { type: 'multipolygon', natural: 'water', name: 'Lake' }, [outer, 'outer'], [inner, 'inner']),
    relation(2, { type: 'boundary', boundary: 'administrative', admin_level: '8' }, [outer, 'outer']),
    relation(3, { type: 'route', route: 'bus', ref: '7' }, [100, ''], [river, '']),
  ]
  return [...elements, ...ways, ...relations]
}

function relation(id: number, tags: OsmTags, ...members: (readonly [number, string])[]): OsmElement {
  return { type: 'relation', id, tags, members: members.map(([ref, role]) => ({ type: 'way', ref, role })) }
}

/** Rows of each table when the whole town is imported. */
export const TOWN_ROWS: Readonly<Record<string, number>> = {
  buildings: 81,
  streets: 9,
  railways: 1,
  waterways: 1,
  waterway_routes: 0,
  water: 1,
  landuse: 1,
  natural_point: 1,
  natural_line: 0,
  natural_polygon: 0,
  places: 1,
  pois: 1,
  boundaries: 1,
  transit_point: 1,
  transit_line: 1,
  addresses: 81,
  routes: 0,
  barriers_point: 0,
  barriers_line: 0,
  barriers_polygon: 0,
  power_point: 0,
  power_line: 0,
  power_polygon: 0,
  traffic: 0,
  entrances: 0,
  man_made_point: 0,
  man_made_line: 0,
  man_made_polygon: 0,
}

export function townPbf(elements: readonly OsmElement[] = townElements()): Buffer {
  const timestamp = new Date('2026-03-04T05:06:07Z')
  return Buffer.concat([...writePbf(elements, { timestamp, optionalFeatures: ['Sort.Type_then_ID'] })])
}

/** A GeoJSON polygon of a box; the whole town lies in 11.0, 48.0, 11.1, 48.1. */
export function boxOf(west: number, south: number, east: number, north: number) {
  const ring = [[west, south], [east, south], [east, north], [west, north], [west, south]] // prettier-ignore
  return { type: 'Polygon', coordinates: [ring] }
}

export const TOWN = boxOf(10.9, 47.9, 11.2, 48.2)

/** A square of streets from 11.0, 48.0 on, with as many nodes in each as there are streets. */
export function streetsPbf(side: number): Buffer {
  const elements: OsmElement[] = Array.from({ length: side * side }, (_, i) => ({
    type: 'node',
    id: i + 1,
    lon: 11 + (i % side) / 1e4,
    lat: 48 + Math.floor(i / side) / 1e4,
  }))
  for (let y = 0; y < side; y++) {
    const refs = Array.from({ length: side }, (_, x) => y * side + x + 1)
    elements.push({ type: 'way', id: y + 1, refs, tags: { highway: 'residential' } })
  }
  return townPbf(elements)
}
