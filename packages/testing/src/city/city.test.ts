import { beforeAll, describe, expect, test } from 'vitest'
import { buildCity, type City } from './city.ts'
import type { CityElement } from './element.ts'

type CityWay = Extract<CityElement, { type: 'way' }>
type CityRelation = Extract<CityElement, { type: 'relation' }>

let city: City
let ways: Map<number, CityWay>
let relations: CityRelation[]
beforeAll(() => {
  city = buildCity()
  ways = new Map(city.elements.filter((element) => element.type === 'way').map((way) => [way.id, way]))
  relations = city.elements.filter((element) => element.type === 'relation')
})

test('the same seed gives the same town, another one another', () => {
  expect(buildCity()).toEqual(city)
  expect(buildCity(2).elements).not.toEqual(city.elements)
})

test('elements are sorted, whole, and lie within the box', () => {
  const order = ['node', 'way', 'relation']
  const ids = new Set(city.elements.map(({ type, id }) => `${type} ${id}`))
  expect(ids.size).toBe(city.elements.length)
  for (const [i, element] of city.elements.entries()) {
    const before = city.elements[i - 1]
    expect(!before || order.indexOf(before.type) < order.indexOf(element.type) || before.id < element.id).toBe(true)
    expect(references(element).every((key) => ids.has(key))).toBe(true)
    const [west, south, east, north] = city.header.bbox
    const inside =
      element.type !== 'node' ||
      (element.lon >= west && element.lon <= east && element.lat >= south && element.lat <= north)
    expect(inside).toBe(true)
  }
})

describe('it has', () => {
  test.for<[string, string, string, number]>([
    ['way', 'highway', 'primary', 5],
    ['way', 'highway', 'secondary', 2],
    ['way', 'highway', 'tertiary', 8],
    ['way', 'highway', 'residential', 50],
    ['way', 'highway', 'living_street', 2],
    ['way', 'highway', 'motorway', 6],
    ['way', 'highway', 'motorway_link', 4],
    ['way', 'highway', 'service', 4],
    ['way', 'highway', 'footway', 3],
    ['way', 'highway', 'cycleway', 1],
    ['way', 'highway', 'path', 2],
    ['way', 'highway', 'track', 2],
    ['way', 'highway', 'steps', 1],
    ['way', 'junction', 'roundabout', 1],
    ['way', 'bridge', 'yes', 6],
    ['way', 'route', 'ferry', 2],
    ['way', 'oneway', 'yes', 10],
    ['way', 'oneway', '-1', 2],
    ['way', 'railway', 'rail', 2],
    ['way', 'waterway', 'river', 1],
    ['way', 'landuse', 'farmland', 20],
    ['way', 'building', 'house', 800],
    ['node', 'highway', 'traffic_signals', 6],
    ['node', 'highway', 'motorway_junction', 2],
    ['node', 'highway', 'bus_stop', 7],
    ['node', 'barrier', 'gate', 1],
    ['node', 'barrier', 'bollard', 1],
    ['node', 'railway', 'level_crossing', 1],
    ['node', 'amenity', 'restaurant', 1],
    ['node', 'place', 'town', 1],
    ['relation', 'type', 'restriction', 5],
    ['relation', 'type', 'multipolygon', 20],
    ['relation', 'type', 'boundary', 2],
    ['relation', 'type', 'route', 2],
  ])('%ss with %s=%s, %i at least', ([type, key, value, least]) => {
    const found = city.elements.filter((element) => element.type === type && element.tags[key] === value)
    expect(found.length).toBeGreaterThanOrEqual(least)
  })
})

test('one can drive from every street to every other, and walk to nearly everywhere', () => {
  const drivable = [...ways.values()].filter(({ tags }) =>
    /^(primary|secondary|tertiary|unclassified|residential|living_street|motorway|motorway_link)$/.test(
      tags['highway'] ?? '',
    ),
  )
  const driving = [...drivable, ...[...ways.values()].filter(({ tags }) => tags['motor_vehicle'] === 'yes')]
  expect(components(driving)).toBe(1)
  const walking = [...ways.values()].filter(
    ({ tags }) => tags['foot'] !== 'no' && (tags['highway'] || tags['route'] === 'ferry') && !tags['area'],
  )
  expect(components(walking)).toBeLessThanOrEqual(3)
})

test('restrictions join where they say', () => {
  const restrictions = relations.filter(({ tags }) => tags['type'] === 'restriction')
  for (const { members } of restrictions) {
    const member = (role: string) => members.find((candidate) => candidate.role === role)
    const via = member('via')
    const points = via?.type === 'node' ? [via.ref] : (ways.get(via?.ref ?? 0)?.refs ?? [])
    for (const role of ['from', 'to']) {
      const refs = ways.get(member(role)?.ref ?? 0)?.refs ?? []
      expect(points.some((point) => point === refs[0] || point === refs.at(-1))).toBe(true)
    }
  }
})

test('the ground is that of the map', () => {
  const { ground } = city
  const corners = (id: number) => ways.get(id)!.refs.length
  const lake = relations.find(({ tags }) => tags['name'] === 'Grünsee')!
  const [outer, inner] = ground.water[1]!
  // The shore is drawn in two ways that share two corners.
  expect(outer!.length).toBe(corners(lake.members[0]!.ref) + corners(lake.members[1]!.ref) - 1)
  expect(inner!.length).toBe(corners(lake.members[2]!.ref))
  const fields = [...ways.values()].filter(
    ({ tags }) => tags['landuse'] === 'farmland' || (tags['landuse'] === 'meadow' && tags['crop'] === undefined),
  )
  expect(ground.fields.length).toBe(fields.length - 1)
  for (const ring of [...ground.forest, ...ground.town, ...ground.park, ...ground.industry].flat())
    expect(ring[0]).toEqual(ring.at(-1))
})

function references(element: CityElement): string[] {
  if (element.type === 'way') return element.refs.map((ref) => `node ${ref}`)
  return element.type === 'relation' ? element.members.map(({ type, ref }) => `${type} ${ref}`) : []
}

/** Number of groups of ways that share no node. */
function components(lines: readonly CityWay[]): number {
  const parent = new Map<number, number>()
  const root = (node: number): number => {
    const up = parent.get(node) ?? node
    return up === node ? node : root(up)
  }
  for (const { refs } of lines) for (const ref of refs) parent.set(root(ref), root(refs[0]!))
  return new Set(lines.map(({ refs }) => root(refs[0]!))).size
}
