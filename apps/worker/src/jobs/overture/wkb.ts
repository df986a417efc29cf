import { wkbHead, type Aoi } from '@terrane/core'

/** What a geometry is made of; `other` cannot go into a table of one type. */
export type Family = 'point' | 'line' | 'polygon' | 'other'

/** Family of an OGC WKB geometry by its head; those with heights or measures are none of the tables'. */
export function familyOf(wkb: Uint8Array): Family {
  const head = wkb.length < 9 ? null : wkbHead(wkb)
  if (head === null || head.hasZ || head.hasM) return 'other'
  const { code } = head
  if (code === 1) return 'point'
  if (code === 2 || code === 5) return 'line'
  return code === 3 || code === 6 ? 'polygon' : 'other'
}

/** Whether a point, line or polygon geometry has a point in common with an area. The WKB must be whole. */
export function touches(wkb: Uint8Array, aoi: Aoi): boolean {
  return new Toucher(viewOf(wkb), aoi).geometry()
}

/** Reads a geometry while it compares it. */
class Toucher {
  readonly #view: DataView
  readonly #aoi: Aoi
  #at = 0

  constructor(view: DataView, aoi: Aoi) {
    this.#view = view
    this.#aoi = aoi
  }

  geometry(): boolean {
    const little = this.#view.getUint8(this.#at) === 1
    const type = this.#view.getUint32(this.#at + 1, little)
    this.#at += 5
    if (type === 1) return this.#point(little)
    if (type === 2) return this.#line(little)
    if (type === 3) return this.#polygon(little)
    const count = this.#count(little)
    let found = false
    for (let i = 0; i < count && !found; i++) found = this.geometry()
    return found
  }

  #point(little: boolean): boolean {
    const [x, y] = this.#position(little)
    return this.#aoi.containsPoint(x, y)
  }

  #line(little: boolean): boolean {
    const count = this.#count(little)
    let found = false
    let [ax, ay] = count > 0 ? this.#position(little) : [0, 0]
    if (count === 1) return this.#aoi.containsPoint(ax, ay)
    for (let i = 1; i < count; i++) {
      const [bx, by] = this.#position(little)
      found ||= this.#aoi.touchesSegment(ax, ay, bx, by)
      ax = bx
      ay = by
    }
    return found
  }

  /** No border meets the area: then it lies all within the polygon, or all without. */
  #polygon(little: boolean): boolean {
    const start = this.#at
    const rings = this.#count(little)
    let found = false
    for (let ring = 0; ring < rings; ring++) found = this.#line(little) || found
    if (found) return true
    const end = this.#at
    for (const [x, y] of this.#aoi.borderPoints()) {
      this.#at = start
      if (this.#holds(x, y, little)) return true
    }
    this.#at = end
    return false
  }

  #holds(x: number, y: number, little: boolean): boolean {
    const rings = this.#count(little)
    let inside = false
    for (let ring = 0; ring < rings; ring++) {
      const count = this.#count(little)
      let [ax, ay] = count > 0 ? this.#position(little) : [0, 0]
      for (let i = 1; i < count; i++) {
        const [bx, by] = this.#position(little)
        if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
        ax = bx
        ay = by
      }
    }
    return inside
  }

  #count(little: boolean): number {
    const count = this.#view.getUint32(this.#at, little)
    this.#at += 4
    return count
  }

  #position(little: boolean): [number, number] {
    const x = this.#view.getFloat64(this.#at, little)
    const y = this.#view.getFloat64(this.#at + 8, little)
    this.#at += 16
    return [x, y]
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
