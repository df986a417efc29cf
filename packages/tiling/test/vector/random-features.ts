import { seededRandom } from '@terrane/core'
import { line, point, polygon } from './feature-source.ts'
import type { TestFeature } from './feature-source.ts'
import type { GeoJsonGeometry as Geometry } from '@terrane/core'

/** Seeded features of all kinds and sizes over a few countries; `simple` ones are single and do not cross themselves. */
export function randomFeatures(count: number, seed: number, { simple = false } = {}): TestFeature[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, (_, id) => ({
    id,
    geometry: randomGeometry(random, simple),
    properties: {
      name: random() < 0.8 ? `thing ${Math.floor(random() * 300)}` : null,
      rank: Math.floor(random() * 2000) - 1000,
      ratio: random(),
      open: random() < 0.5,
      mixed: random() < 0.5 ? 'text' : 4.5,
    },
  }))
}

function randomGeometry(random: () => number, simple: boolean): Geometry {
  const lng = random() * 12
  const lat = 45 + random() * 8
  const size = 0.0003 * 10 ** (random() * 3.7)
  const pick = random()
  if (pick < 0.25) return point(lng, lat)
  if (pick < 0.55) return walk(random, lng, lat, size)
  if (pick < 0.85 || simple) return blob(random, lng, lat, size, random() < 0.2)
  if (pick < 0.95) {
    const members = [0, 1, 2].map((i) => blob(random, lng + i * size * 3, lat, size, false).coordinates)
    return { type: 'MultiPolygon', coordinates: members }
  }
  if (pick < 0.97) return scribble(random, lng, lat, size)
  return {
    type: 'MultiPoint',
    coordinates: [
      [lng, lat],
      [lng + size, lat],
    ],
  }
}

function walk(random: () => number, lng: number, lat: number, size: number): Geometry {
  let angle = random() * 7
  let x = lng
  let y = lat
  const steps = 2 + Math.floor(random() * 60)
  const step = (size * 4) / steps
  const positions = Array.from({ length: steps }, (): [number, number] => {
    angle += (random() - 0.5) * 0.8
    x += Math.cos(angle) * step
    y += Math.sin(angle) * step
    return [x, y]
  })
  return line(...positions)
}

/** A star-shaped ring, with a smaller one of the same shape as a hole. */
function blob(random: () => number, lng: number, lat: number, size: number, withHole: boolean): Geometry {
  const count = 4 + Math.floor(random() * 60)
  const radii = Array.from({ length: count }, () => size * (0.7 + random() * 0.3))
  const ring = (scale: number) =>
    radii.map((radius, i): [number, number] => [
      lng + radius * scale * Math.cos((2 * Math.PI * i) / count),
      lat + radius * scale * Math.sin((2 * Math.PI * i) / count),
    ])
  return withHole ? polygon(ring(1), ring(0.5)) : polygon(ring(1))
}

/** A ring that crosses itself. */
function scribble(random: () => number, lng: number, lat: number, size: number): Geometry {
  return polygon(Array.from({ length: 8 }, (): [number, number] => [lng + random() * size, lat + random() * size]))
}
