import { blockElements, type OsmReader, type OsmTags } from '@terrane/osm'

import { readRestriction, type Restriction } from './restrictions.ts'

/** A stretch of a way between two of its nodes that follow each other. */
export interface Segment {
  readonly way: MapWay
  /** Nodes by their place in the order of the map. */
  readonly a: number
  readonly b: number
}

export interface MapWay {
  readonly id: number
  readonly tags: OsmTags
  readonly refs: readonly number[]
}

/** Ways that people travel, as they stand in the data, with an index to find them by coordinates. */
export class TravelMap {
  readonly restrictions: readonly Restriction[]
  readonly ways = new Map<number, MapWay>()
  readonly nodeIds: number[] = []
  readonly nodeTags = new Map<number, OsmTags>()
  /** 1e-7 degrees. */
  readonly #lon: number[] = []
  readonly #lat: number[] = []
  readonly #segments = new Map<number, Segment[]>()
  readonly #points = new Map<string, number[]>()
  readonly #cells = new Map<string, Set<Segment>>()
  readonly #around = new Map<number, Segment[]>()

  constructor(data: MapData) {
    const indexOf = new Map<number, number>()
    for (const way of data.ways) {
      this.ways.set(way.id, way)
      let before = -1
      for (const ref of way.refs) {
        const place = data.places.get(ref)
        if (place === undefined) {
          before = -1
          continue
        }
        let node = indexOf.get(ref)
        if (node === undefined) indexOf.set(ref, (node = this.#addNode(ref, place)))
        if (before >= 0 && before !== node) this.#addSegment({ way, a: before, b: node })
        before = node
      }
    }
    this.restrictions = data.restrictions
  }

  get nodeCount(): number {
    return this.nodeIds.length
  }

  /** Degrees. */
  place(node: number): [lon: number, lat: number] {
    return [this.#lon[node]! / 1e7, this.#lat[node]! / 1e7]
  }

  /** Nodes at a place that is known to a millionth of a degree. */
  nodesAt(lon: number, lat: number): number[] {
    const x = Math.round(lon * 1e6)
    const y = Math.round(lat * 1e6)
    const found: number[] = []
    for (let dx = -1; dx <= 1; dx++) {
      for (let dy = -1; dy <= 1; dy++) {
        for (const node of this.#points.get(`${x + dx} ${y + dy}`) ?? []) {
          if (Math.abs(this.#lon[node]! - x * 10) < 11 && Math.abs(this.#lat[node]! - y * 10) < 11) found.push(node)
        }
      }
    }
    return found
  }

  segmentsBetween(a: number, b: number): readonly Segment[] {
    return this.#segments.get(this.#pair(a, b)) ?? []
  }

  segmentsAt(node: number): readonly Segment[] {
    return this.#around.get(node) ?? []
  }

  /** Segments near a place, some of them farther away. */
  segmentsNear(lon: number, lat: number): Iterable<Segment> {
    return this.#cells.get(cellOf(lon * 1e7, lat * 1e7)) ?? []
  }

  #addNode(id: number, { lon, lat, tags }: Place): number {
    const node = this.nodeIds.push(id) - 1
    this.#lon.push(Math.round(lon * 1e7))
    this.#lat.push(Math.round(lat * 1e7))
    if (tags.barrier !== undefined || Object.keys(tags).some((key) => key.startsWith('max')))
      this.nodeTags.set(node, tags)
    pushTo(this.#points, `${Math.round(lon * 1e6)} ${Math.round(lat * 1e6)}`, node)
    return node
  }

  #addSegment(segment: Segment): void {
    const { a, b } = segment
    pushTo(this.#segments, this.#pair(a, b), segment)
    pushTo(this.#around, a, segment)
    pushTo(this.#around, b, segment)
    const [west, east] = [this.#lon[a]!, this.#lon[b]!].toSorted((x, y) => x - y) as [number, number]
    const [south, north] = [this.#lat[a]!, this.#lat[b]!].toSorted((x, y) => x - y) as [number, number]
    for (let x = Math.floor((west - BESIDE) / CELL); x <= Math.floor((east + BESIDE) / CELL); x++) {
      for (let y = Math.floor((south - BESIDE) / CELL); y <= Math.floor((north + BESIDE) / CELL); y++) {
        const key = `${x} ${y}`
        const cell = this.#cells.get(key)
        if (cell === undefined) this.#cells.set(key, new Set([segment]))
        else cell.add(segment)
      }
    }
  }

  #pair(a: number, b: number): number {
    return Math.min(a, b) * 2 ** 26 + Math.max(a, b)
  }
}

/** Side of a cell of the index, and how far beside a segment places are that are on it, in 1e-7 degrees. */
const CELL = 20_000
const BESIDE = 500

function cellOf(lon: number, lat: number): string {
  return `${Math.floor(lon / CELL)} ${Math.floor(lat / CELL)}`
}

function pushTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

interface Place {
  readonly lon: number
  readonly lat: number
  readonly tags: OsmTags
}

interface MapData {
  readonly ways: readonly MapWay[]
  readonly places: ReadonlyMap<number, Place>
  readonly restrictions: readonly Restriction[]
}

/** Reads the ways that people may travel: roads, paths, ferries, and railways for the tracks that streets share. */
export async function readTravelMap(reader: OsmReader): Promise<TravelMap> {
  const ways: MapWay[] = []
  const places = new Map<number, Place>()
  const restrictions: Restriction[] = []
  await reader.read((block) => {
    for (const element of blockElements(block)) {
      const { id, tags = {} } = element
      if (element.type === 'node') {
        if (Number.isFinite(element.lon)) places.set(id, { lon: element.lon, lat: element.lat, tags })
      } else if (element.type === 'way') {
        if (isTravelled(tags)) ways.push({ id, tags, refs: element.refs })
      } else {
        const restriction = readRestriction(element)
        if (restriction !== null) restrictions.push(restriction)
      }
    }
  })
  return new TravelMap({ ways, places, restrictions })
}

function isTravelled({ highway, railway, route }: OsmTags): boolean {
  return highway !== undefined || railway !== undefined || route === 'ferry' || route === 'shuttle_train'
}
