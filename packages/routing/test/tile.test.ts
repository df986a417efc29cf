import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { describe, expect, it } from 'vitest'
import { Router } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'

const town = await drawTown({
  map: `
A----1----B---------------------------F
          |
          C     D--E`,
  ways: {
    AB: { highway: 'motorway', oneway: 'yes', maxspeed: '90' },
    BC: { highway: 'footway' },
    BF: { route: 'ferry', foot: 'yes' },
    DE: { highway: 'residential', bridge: 'yes' },
  },
  meters: 400,
})
const router = new Router(town.network)

/** The tile of a zoom that a place lies in. */
function tileAt({ lon, lat }: { lon: number; lat: number }, z: number): { z: number; x: number; y: number } {
  const sine = Math.sin((lat * Math.PI) / 180)
  const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
  return { z, x: Math.floor(((lon + 180) / 360) * 2 ** z), y: Math.floor(y * 2 ** z) }
}

/** The streets of a tile by the id of their way, as GeoJSON. */
function streetsOf(tile: { z: number; x: number; y: number }) {
  const { status, body } = router.answer(JSON.stringify({ tile }), 'tile')
  expect(status).toBe(200)
  const { edges } = new VectorTile(new PbfReader(body as Uint8Array)).layers
  const features = Array.from({ length: edges?.length ?? 0 }, (_, i) => edges!.feature(i))
  return new Map(features.map((feature) => [feature.properties['osm_id'] as number, { feature, tile }]))
}

function linesOf({ feature, tile }: NonNullable<ReturnType<ReturnType<typeof streetsOf>['get']>>): number[][][] {
  const { geometry } = feature.toGeoJSON(tile.x, tile.y, tile.z)
  return geometry.type === 'LineString'
    ? [geometry.coordinates]
    : (geometry as { coordinates: number[][][] }).coordinates
}

describe('tile', () => {
  it('draws the streets around a place where they are, with what the graph knows of them', () => {
    const streets = streetsOf(tileAt(town.at('A'), 12))
    const motorway = streets.get(1)
    expect(motorway!.feature.properties).toMatchObject({
      tile_level: 0,
      road_class: 0,
      bridge: false,
      'speed:fwd': 90,
      'access:bwd': 0,
    })
    const [line] = linesOf(motorway!)
    for (const [i, name] of (['A', 'B'] as const).entries()) {
      const { lon, lat } = town.at(name)
      const [x = 0, y = 0] = line!.at(-i)!
      expect(Math.abs(x - lon)).toBeLessThan(360 / 2 ** 12 / 4096)
      expect(Math.abs(y - lat)).toBeLessThan(360 / 2 ** 12 / 4096)
    }
  })

  it('holds a street in each tile that it passes, and no other', () => {
    const z = 16
    const { graph } = town.network
    const seen = new Set<string>()
    for (let shape = 0; shape + 1 < graph.firstPoint.length; shape++) {
      const [first, end] = [graph.firstPoint[shape]!, graph.firstPoint[shape + 1]!]
      for (let i = first; i + 1 < end; i++) {
        for (let share = 0; share <= 1; share += 1 / 512) {
          const at = (values: Int32Array) => (values[i]! + (values[i + 1]! - values[i]!) * share) / 1e6
          const { x, y } = tileAt({ lon: at(graph.pointLon), lat: at(graph.pointLat) }, z)
          seen.add(`${graph.shapeWay[shape]} ${x} ${y}`)
        }
      }
    }
    const tiles = [...seen].map((key) => key.split(' ').map(Number))
    for (const [way, x, y] of tiles) expect([...streetsOf({ z, x: x!, y: y! }).keys()]).toContain(way)
    const [west, north] = [Math.min(...tiles.map(([, x]) => x!)), Math.min(...tiles.map(([, , y]) => y!))]
    expect(streetsOf({ z, x: west - 2, y: north }).size).toBe(0)
  })

  it('cuts long lines off a little beyond the tile', () => {
    const streets = streetsOf(tileAt(town.at('F'), 18))
    for (const { feature } of streets.values()) {
      for (const { x, y } of feature.loadGeometry().flat()) {
        expect(Math.min(x, y)).toBeGreaterThanOrEqual(-64)
        expect(Math.max(x, y)).toBeLessThanOrEqual(4160)
      }
    }
    expect(streets.size).toBe(1)
  })

  it('leaves out below its lowest zoom what is of lesser rank, and nothing else', () => {
    const ranks = (z: number, place = 'A') =>
      [...streetsOf(tileAt(town.at(place), z)).values()].map(({ feature }) => feature.properties['road_class'])
    expect(ranks(6)).toEqual([])
    expect(ranks(7)).toEqual([0])
    expect(new Set(ranks(12, 'D')).has(6)).toBe(false)
    expect(new Set(ranks(13, 'D')).has(6)).toBe(true)
  })

  it.each([
    {},
    { tile: { z: 3, x: 8, y: 0 } },
    { tile: { z: 3, x: 0, y: -1 } },
    { tile: { z: 31, x: 0, y: 0 } },
    { tile: { z: 1, x: 0 } },
  ])('refuses coordinates outside of the pyramid (%#)', (request) => {
    const { status, body } = router.answer(JSON.stringify(request), 'tile')
    expect([status, JSON.parse(body as string).error_code]).toEqual([400, 174])
  })
})
