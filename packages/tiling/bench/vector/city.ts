import { seededRandom } from '@terrane/core'
import type { TestFeature } from '../../test/vector/feature-source.ts'
import { line, point, polygon } from '../../test/vector/feature-source.ts'

const KINDS = ['residential', 'residential', 'residential', 'service', 'footway', 'tertiary', 'secondary', 'primary']

/** Winding streets of ten towns, of 3 to 20 vertices, some named, some one-way. */
export function* roads(count: number): Generator<TestFeature> {
  const random = seededRandom(1)
  for (let id = 1; id <= count; id++) {
    const town = Math.floor(random() * 10)
    let lng = town * 1.3 + gauss(random) * 0.08
    let lat = 44 + town * 0.7 + gauss(random) * 0.06
    let angle = Math.floor(random() * 4) * (Math.PI / 2) + gauss(random) * 0.1 + town
    const positions = Array.from({ length: 3 + Math.floor(random() ** 2 * 18) }, (): [number, number] => {
      angle += gauss(random) * 0.15
      const step = 0.0001 + random() ** 3 * 0.002
      lng += Math.cos(angle) * step
      lat += Math.sin(angle) * step * 0.7
      return [round(lng), round(lat)]
    })
    const highway = KINDS[Math.floor(random() * KINDS.length)]!
    const name = random() < 0.5 ? `Street ${Math.floor(random() ** 2 * count * 0.2)}` : null
    const oneway = random() < 0.2 ? true : null
    const lanes = random() < 0.15 ? 1 + Math.floor(random() * 4) : null
    yield { id, geometry: line(...positions), properties: { highway, name, oneway, lanes } }
  }
}

/** Buildings of four to twelve corners in rows. */
export function* buildings(count: number): Generator<TestFeature> {
  const random = seededRandom(2)
  for (let id = 1; id <= count; id++) {
    const town = Math.floor(random() * 4)
    const lng = town * 1.3 + gauss(random) * 0.03
    const lat = 44 + town * 0.7 + gauss(random) * 0.02
    const turn = Math.floor(lng * 300) + Math.floor(lat * 300)
    const size = 0.00005 + random() ** 2 * 0.0003
    const notches = Math.floor(random() * 3)
    const corners: [number, number][] = [
      [0, 0],
      [1, 0],
      [1, 0.7],
    ]
    for (let i = 0; i < notches; i++) corners.push([0.8 - i * 0.3, 0.7 - i * 0.1], [0.8 - i * 0.3, 0.6 - i * 0.1])
    corners.push([0, 0.7 - notches * 0.1])
    const ring = corners.map(([x, y]): [number, number] => [
      round(lng + (x * Math.cos(turn) - y * Math.sin(turn)) * size),
      round(lat + (x * Math.sin(turn) + y * Math.cos(turn)) * size * 0.7),
    ])
    const building = random() < 0.6 ? 'yes' : KINDS[Math.floor(random() * 3)]!
    yield {
      id,
      geometry: polygon(ring),
      properties: { building, levels: random() < 0.2 ? Math.ceil(random() * 9) : null },
    }
  }
}

/** Addresses and shops of ten towns, most of them close together. */
export function* points(count: number): Generator<TestFeature> {
  const random = seededRandom(3)
  for (let id = 1; id <= count; id++) {
    const town = Math.floor(random() * 10)
    const spread = 0.005 + random() ** 2 * 0.1
    const lng = town * 1.3 + gauss(random) * spread
    const lat = 44 + town * 0.7 + gauss(random) * spread * 0.7
    const amenity = random() < 0.3 ? KINDS[Math.floor(random() * KINDS.length)]! : null
    const number = random() < 0.7 ? Math.ceil(random() ** 2 * 200) : null
    const name = random() < 0.2 ? `Place ${Math.floor(random() ** 2 * count * 0.2)}` : null
    yield { id, geometry: point(round(lng), round(lat)), properties: { amenity, number, name } }
  }
}

function gauss(random: () => number): number {
  return random() + random() + random() - 1.5
}

function round(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7
}
