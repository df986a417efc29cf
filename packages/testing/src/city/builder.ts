import type { CityElement, CityMember, CityTags } from './element.ts'

/** Metres east and north of the middle of the town. */
export type Point = readonly [x: number, y: number]

/** Position of the town. */
const ORIGIN = { lon: 11.6, lat: 48.1 } as const

const METRES_PER_DEGREE = 111_195
const EAST = METRES_PER_DEGREE * Math.cos((ORIGIN.lat * Math.PI) / 180)

/** Degrees of a point, to 1e-7. */
export function degrees([x, y]: Point): [lon: number, lat: number] {
  return [round7(ORIGIN.lon + x / EAST), round7(ORIGIN.lat + y / METRES_PER_DEGREE)]
}

/** Collects elements; points at the same decimetre are one node, so lines that share points are connected. */
export class CityBuilder {
  readonly #nodes: { point: Point; tags: Record<string, string> }[] = []
  readonly #nodeAt = new Map<string, number>()
  readonly #ways: { refs: number[]; tags: CityTags }[] = []
  readonly #relations: { members: CityMember[]; tags: CityTags }[] = []

  /** The node at a point, with the tags added to those it has; returns its id. */
  node(point: Point, tags: CityTags = {}): number {
    const key = `${Math.round(point[0] * 10)} ${Math.round(point[1] * 10)}`
    let id = this.#nodeAt.get(key)
    if (id === undefined) {
      id = this.#nodes.push({ point, tags: {} })
      this.#nodeAt.set(key, id)
    }
    Object.assign(this.#nodes[id - 1]!.tags, tags)
    return id
  }

  /** A way through points; returns its id. */
  way(points: readonly Point[], tags: CityTags): number {
    const refs = points.map((point) => this.node(point)).filter((ref, i, all) => ref !== all[i - 1])
    return this.#ways.push({ refs, tags })
  }

  /** A closed way around an area; returns its id. */
  area(ring: readonly Point[], tags: CityTags): number {
    return this.way([...ring, ring[0]!], tags)
  }

  relation(
    tags: CityTags,
    ...members: readonly (readonly [type: CityMember['type'], ref: number, role: string])[]
  ): number {
    return this.#relations.push({ tags, members: members.map(([type, ref, role]) => ({ type, ref, role })) })
  }

  /** All elements: nodes, ways, relations, each by ascending id. */
  elements(): CityElement[] {
    const nodes = this.#nodes.map(({ point, tags }, i): CityElement => {
      const [lon, lat] = degrees(point)
      return { type: 'node', id: i + 1, lon, lat, tags }
    })
    const ways = this.#ways.map(({ refs, tags }, i): CityElement => ({ type: 'way', id: i + 1, refs, tags }))
    const relations = this.#relations.map(({ members, tags }, i): CityElement => ({
      type: 'relation',
      id: i + 1,
      members,
      tags,
    }))
    return [...nodes, ...ways, ...relations]
  }
}

function round7(value: number): number {
  return Math.round(value * 1e7) / 1e7
}
