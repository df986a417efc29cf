/** Rings of polygons as positions; an outer ring has positive area (y down: clockwise on screen), its holes follow. */
export type Ring = readonly (readonly [number, number])[]

/**
 * Why polygons on a whole-number grid are invalid by OGC Simple Features, or null. Quadratic and independent of the
 * tiler: proper crossings, overlaps, wrong nesting, disconnected interiors.
 */
export function invalidity(polygons: readonly (readonly Ring[])[]): string | null {
  for (const rings of polygons) {
    for (const [i, ring] of rings.entries()) {
      if (ring.length < 3) return 'a ring has fewer than three vertices'
      if (new Set(ring.map(String)).size !== ring.length) return 'a ring passes a vertex twice'
      if (area(ring) > 0 !== (i === 0)) return `ring ${i} is wound the wrong way`
    }
  }
  const rings = polygons.flatMap((polygon, p) => polygon.map((ring, r) => ({ ring, p, r })))
  for (const [i, a] of rings.entries()) {
    for (const b of rings.slice(i)) {
      const problem = a === b ? selfContact(a.ring) : contact(a.ring, b.ring)
      if (problem) return problem
    }
  }
  for (const { ring, p, r } of rings) {
    for (const other of rings) {
      if (other.ring === ring) continue
      // No ring crosses another, so that any point of it tells, unless both touch there.
      const [x, y] = pointApart(ring, other.ring)
      const inside = holds(other.ring, x, y)
      if (other.p === p && r > 0 && other.r === 0 && !inside) return 'a hole lies outside its polygon'
      if (other.p === p && r > 0 && other.r > 0 && inside) return 'a hole lies in a hole'
      if (other.p !== p && r === 0 && inside && other.r === 0 && !inHole(polygons[other.p]!, x, y)) {
        return 'a polygon lies in another one'
      }
    }
  }
  for (const polygon of polygons) if (!isConnected(polygon)) return 'holes cut a polygon in two'
  return null
}

/** Signed area; positive when the ring turns from +x to +y. */
export function area(ring: Ring): number {
  let sum = 0
  for (const [i, [x, y]] of ring.entries()) {
    const [nx, ny] = ring[(i + 1) % ring.length]!
    sum += x * ny - nx * y
  }
  return sum / 2
}

/** Whether a point that is on no edge lies in a ring. */
export function holds(ring: Ring, x: number, y: number): boolean {
  let inside = false
  for (const [i, [ax, ay]] of ring.entries()) {
    const [bx, by] = ring[(i + 1) % ring.length]!
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
  }
  return inside
}

function inHole(polygon: readonly Ring[], x: number, y: number): boolean {
  return polygon.slice(1).some((hole) => holds(hole, x, y))
}

function pointApart(ring: Ring, other: Ring): [number, number] {
  const [a, b] = [ring[0]!, ring[1]!]
  const t = cuts(a, b, other)[0]!
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t]
}

/** Rings that touch in two or more places enclose a piece of the interior: a cycle in the graph of contacts. */
function isConnected(polygon: readonly Ring[]): boolean {
  const parent = new Map<string, string>()
  const find = (key: string): string => {
    const up = parent.get(key) ?? key
    return up === key ? key : find(up)
  }
  for (const [i, ring] of polygon.entries()) {
    for (const [x, y] of contactPoints(ring, polygon)) {
      const a = find(`ring ${i}`)
      const b = find(`point ${x},${y}`)
      if (a === b) return false
      parent.set(a, b)
    }
  }
  return true
}

/** Vertices of any ring of the polygon that lie on this ring and on another one. */
function contactPoints(ring: Ring, polygon: readonly Ring[]): (readonly [number, number])[] {
  const points = new Map<string, readonly [number, number]>()
  for (const other of polygon) {
    if (other === ring) continue
    for (const point of [...ring, ...other]) {
      if (isOn(ring, point) && isOn(other, point)) points.set(String(point), point)
    }
  }
  return [...points.values()]
}

function isOn(ring: Ring, p: readonly [number, number]): boolean {
  return ring.some((a, i) => onSegment(a, ring[(i + 1) % ring.length]!, p))
}

function onSegment(a: readonly [number, number], b: readonly [number, number], p: readonly [number, number]): boolean {
  return (
    side(a, b, p) === 0 &&
    p[0] >= Math.min(a[0], b[0]) &&
    p[0] <= Math.max(a[0], b[0]) &&
    p[1] >= Math.min(a[1], b[1]) &&
    p[1] <= Math.max(a[1], b[1])
  )
}

function selfContact(ring: Ring): string | null {
  for (const [i, a] of ring.entries()) {
    const b = ring[(i + 1) % ring.length]!
    for (const [j, p] of ring.entries()) {
      if (j === i || j === (i + 1) % ring.length) continue
      if (onSegment(a, b, p)) return 'a ring touches itself'
    }
    for (let j = i + 2; j < ring.length; j++) {
      if (i === 0 && j === ring.length - 1) continue
      if (crosses(a, b, ring[j]!, ring[(j + 1) % ring.length]!)) return 'a ring crosses itself'
    }
  }
  return null
}

function contact(one: Ring, two: Ring): string | null {
  for (const [i, a] of one.entries()) {
    const b = one[(i + 1) % one.length]!
    for (const [j, c] of two.entries()) {
      const d = two[(j + 1) % two.length]!
      if (crosses(a, b, c, d)) return 'rings cross'
      const shared = [onSegment(a, b, c), onSegment(a, b, d), onSegment(c, d, a), onSegment(c, d, b)]
      const points = new Set([c, d, a, b].filter((_, k) => shared[k]).map(String))
      if (points.size > 1) return 'rings share an edge'
    }
  }
  // Rings may still cross in a vertex: then one has points on both sides of the other.
  const sides = new Set<boolean>()
  for (const [i, a] of one.entries()) {
    const b = one[(i + 1) % one.length]!
    for (const t of cuts(a, b, two)) sides.add(holds(two, a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t))
  }
  return sides.size > 1 ? 'rings cross in a vertex' : null
}

/** Middles of the pieces into which the vertices of a ring cut a segment. */
function cuts(a: readonly [number, number], b: readonly [number, number], ring: Ring): number[] {
  const length = (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2
  const at = ring
    .filter((p) => onSegment(a, b, p))
    .map((p) => ((p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1])) / length)
  const all = [0, ...at, 1].toSorted((x, y) => x - y)
  return all.slice(1).flatMap((t, i) => (t > all[i]! ? [(t + all[i]!) / 2] : []))
}

function crosses(
  a: readonly [number, number],
  b: readonly [number, number],
  c: readonly [number, number],
  d: readonly [number, number],
): boolean {
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
}

function side(a: readonly [number, number], b: readonly [number, number], p: readonly [number, number]): number {
  return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
}
