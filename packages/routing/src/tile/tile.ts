// oxlint-disable-next-line typescript/triple-slash-reference -- Packages that import this one need the declaration, too.
/// <reference path="./lineclip.d.ts" />
import { fromVectorTileJs, type VectorTileFeatureLike } from '@maplibre/vt-pbf'
import { clipPolyline } from 'lineclip'
import type { Work } from '../actions.ts'
import { EdgeField, get, TrafficField } from '../graph/fields.ts'
import type { Graph } from '../graph/graph.ts'
import type { Ground } from '../ground.ts'
import { FANOUT, readBox } from '../snap/boxes.ts'
import { shapeEdges } from '../snap/shape-edges.ts'
import type { TileRequest } from './request.ts'

/** Number of units per side of a tile. */
const EXTENT = 4096
/** Buffer around a tile, in units. */
const BUFFER = 64
/** Lowest zoom at which a street is drawn, by its class: Valhalla's default of `mvt_min_zoom_road_class`. */
const LOWEST_ZOOM = [7, 7, 8, 11, 11, 12, 13, 14] as const
/** Hierarchy level of a street by its class, as Valhalla's tiles are ordered: highway, arterial, local. */
const LEVEL = [0, 0, 0, 1, 1, 2, 2, 2] as const
/** Number of boxes of the tree, or of streets, between two yields. */
const STEP = 2000

type Point = [x: number, y: number]

/**
 * The streets of a tile as a Mapbox Vector Tile with a layer `edges`: one line for both directions, in the direction of
 * its way; `fwd` and `bwd` are along and against it. Streets are left out only below the lowest zoom of their class.
 *
 * Members by Valhalla's names: `tile_level`, `road_class` (0 motorway to 7 service), `use`, `tunnel`, `bridge`,
 * `roundabout`, `osm_id`, `access:fwd` and `access:bwd` (bits of an access mask), `speed:fwd` and `speed:bwd` (km/h).
 */
export function* tileOf({ network: { graph } }: Ground, tile: TileRequest): Work {
  const view = new View(tile)
  const shapes = new Set<number>()
  let steps = 0
  for (const shape of shapesIn(graph, view)) {
    if (++steps % STEP === 0) yield ''
    if (shape !== null && isDrawn(graph, shape, tile.z)) shapes.add(shape)
  }
  const features: VectorTileFeatureLike[] = []
  for (const shape of shapes) {
    if (++steps % STEP === 0) yield ''
    const lines = clipPolyline(view.line(graph, shape), [-BUFFER, -BUFFER, EXTENT + BUFFER, EXTENT + BUFFER])
    const geometry = lines.map(rounded).filter((line) => line.length > 1)
    if (geometry.length > 0) features.push(featureOf(graph, shape, geometry))
  }
  const edges = {
    name: 'edges',
    version: 2,
    extent: EXTENT,
    length: features.length,
    feature: (i: number) => features[i]!,
  }
  yield fromVectorTileJs({ layers: features.length === 0 ? {} : { edges } })
}

/** Transformation from map to tile coordinates. */
class View {
  /** West, south, east, north in 1e-6 degrees, including the buffer. */
  readonly box: readonly [number, number, number, number]
  readonly #z: number
  readonly #x: number
  readonly #y: number

  constructor({ z, x, y }: TileRequest) {
    this.#z = z
    this.#x = x
    this.#y = y
    const margin = BUFFER / EXTENT
    const side = 2 ** z
    const lon = (column: number) => (column / side) * 360 - 180
    const lat = (row: number) => (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / side))) * 180) / Math.PI
    const box = [lon(x - margin), lat(y + 1 + margin), lon(x + 1 + margin), lat(y - margin)] as const
    this.box = box.map((degrees) => degrees * 1e6) as unknown as readonly [number, number, number, number]
  }

  /** The points of a geometry in units of the tile. */
  line({ firstPoint, pointLon, pointLat }: Graph, shape: number): Point[] {
    const side = 2 ** this.#z
    const points: Point[] = []
    for (let i = firstPoint[shape]!; i < firstPoint[shape + 1]!; i++) {
      const sine = Math.sin((pointLat[i]! / 1e6) * (Math.PI / 180))
      const x = (pointLon[i]! / 1e6 + 180) / 360
      const y = 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
      points.push([(x * side - this.#x) * EXTENT, (y * side - this.#y) * EXTENT])
    }
    return points
  }
}

/** Geometries with a section in the view; some may repeat; null for each visited inner box. */
function* shapesIn(graph: Graph, { box: [west, south, east, north] }: View): Generator<number | null> {
  const { boxShape, boxLevels } = graph
  const sides = new Int32Array(4)
  const top = boxLevels.length - 2
  const open: [level: number, box: number][] = []
  const look = (level: number, first: number, end: number): void => {
    for (let box = first; box < end; box++) {
      readBox(graph, box, sides)
      const misses = sides[0]! > east || sides[2]! < west || sides[1]! > north || sides[3]! < south
      if (!misses) open.push([level, box])
    }
  }
  look(top, boxLevels[top]!, boxLevels[top + 1]!)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [level, box] = next
    if (level === 0) yield boxShape[box]!
    else {
      const below = boxLevels[level - 1]!
      const first = below + FANOUT * (box - boxLevels[level]!)
      look(level - 1, first, Math.min(first + FANOUT, boxLevels[level]!))
      yield null
    }
  }
}

function isDrawn(graph: Graph, shape: number, z: number): boolean {
  const ahead = shapeEdges(graph)[2 * shape]!
  return z >= LOWEST_ZOOM[get(graph.edgeInfo[ahead]!, EdgeField.roadClass)]!
}

/** Rounds points to whole units and drops repeated ones. */
function rounded(line: readonly Point[]): Point[] {
  const points: Point[] = []
  for (const [x, y] of line) {
    const point: Point = [Math.round(x), Math.round(y)]
    const last = points.at(-1)
    if (last?.[0] !== point[0] || last[1] !== point[1]) points.push(point)
  }
  return points
}

function featureOf(graph: Graph, shape: number, lines: Point[][]): VectorTileFeatureLike {
  const [ahead, back] = [shapeEdges(graph)[2 * shape]!, shapeEdges(graph)[2 * shape + 1]!]
  const info = graph.edgeInfo[ahead]!
  const traffic = graph.edgeTraffic[ahead]!
  const roadClass = get(info, EdgeField.roadClass)
  const properties = {
    tile_level: LEVEL[roadClass]!,
    road_class: roadClass,
    use: get(info, EdgeField.use),
    tunnel: get(traffic, TrafficField.tunnel) === 1,
    bridge: get(traffic, TrafficField.bridge) === 1,
    roundabout: get(traffic, TrafficField.roundabout) === 1,
    osm_id: graph.shapeWay[shape]!,
    'access:fwd': get(info, EdgeField.access),
    'access:bwd': get(graph.edgeInfo[back]!, EdgeField.access),
    'speed:fwd': get(traffic, TrafficField.speed),
    'speed:bwd': get(graph.edgeTraffic[back]!, TrafficField.speed),
  }
  const geometry = lines.map((line) => line.map(([x, y]) => ({ x, y })))
  return {
    id: shape,
    type: LINE,
    properties,
    extent: EXTENT,
    loadGeometry: () => geometry,
  }
}

/** Geometry type of lines in the Vector Tile specification 2.1, section 4.3.4. */
const LINE = 2
