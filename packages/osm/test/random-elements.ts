import { seededRandom } from '@terrane/core'
import type { OsmElement, OsmMember } from '../src/index.ts'

const TYPES = ['node', 'way', 'relation'] as const

/** Elements with everything that ids, coordinates, tags and members can be; sorted by kind, ids in any order. */
export function randomElements(seed: number, count: number): OsmElement[] {
  const random = seededRandom(seed)
  const integer = (limit: number): number => Math.floor(random() * limit)
  const id = (): number => [integer(100), -integer(1e6), 2 ** 31 + integer(1e9), integer(2 ** 53)][integer(4)]!
  const tags = (): Record<string, string> => {
    const pairs = Array.from({ length: Math.max(0, integer(8) - 3) }, () => [
      `key ${integer(400)}`,
      `värde 🌍 ${integer(1000)}`,
    ])
    return Object.fromEntries(pairs)
  }
  const list = <T>(most: number, make: () => T): T[] => Array.from({ length: integer(most + 1) }, make)
  const member = (): OsmMember => ({ type: TYPES[integer(3)]!, ref: id(), role: ['', 'inner', 'outer'][integer(3)]! })
  const nodes = Array.from({ length: count }, (): OsmElement => {
    const lon = Math.round((random() * 360 - 180) * 1e7) / 1e7
    const lat = Math.round((random() * 180 - 90) * 1e7) / 1e7
    return { type: 'node', id: id(), lon, lat, tags: tags() }
  })
  const ways = Array.from({ length: count / 4 }, (): OsmElement => ({
    type: 'way',
    id: id(),
    refs: list(9, id),
    tags: tags(),
  }))
  const relations = Array.from({ length: count / 16 }, (): OsmElement => ({
    type: 'relation',
    id: id(),
    members: list(5, member),
    tags: tags(),
  }))
  return [...nodes, ...ways, ...relations]
}
