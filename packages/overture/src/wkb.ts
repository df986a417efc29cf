import { WkbCursor, wkbHead, type Aoi } from '@terrane/core'

/** Type of a geometry; `other` cannot go into a table of one type. */
export type Family = 'point' | 'line' | 'polygon' | 'other'

/** Family of an OGC WKB geometry by its header; tables refuse types with heights or measures. */
export function familyOf(wkb: Uint8Array): Family {
  const head = wkb.length < 9 ? null : wkbHead(wkb)
  if (head === null || head.hasZ || head.hasM) return 'other'
  const { code } = head
  if (code === 1) return 'point'
  if (code === 2 || code === 5) return 'line'
  return code === 3 || code === 6 ? 'polygon' : 'other'
}

/** Whether a point, line or polygon geometry has a point in common with an area. @throws WkbError */
export function touches(wkb: Uint8Array, aoi: Aoi): boolean {
  return geometryTouches(new WkbCursor(wkb), aoi)
}

function geometryTouches(cursor: WkbCursor, aoi: Aoi): boolean {
  const code = cursor.head()
  if (code === 1) {
    const at = cursor.positions(1)
    return aoi.containsPoint(cursor.number(at), cursor.number(at + 8))
  }
  if (code === 2) return lineTouches(cursor, aoi)
  if (code === 3) return polygonTouches(cursor, aoi)
  const count = cursor.count()
  for (let i = 0; i < count; i++) if (geometryTouches(cursor, aoi)) return true
  return false
}

function lineTouches(cursor: WkbCursor, aoi: Aoi): boolean {
  const count = cursor.count()
  const start = cursor.positions(count)
  const { stride } = cursor
  if (count === 1) return aoi.containsPoint(cursor.number(start), cursor.number(start + 8))
  for (let at = start + stride; at < cursor.at; at += stride) {
    const before = at - stride
    if (aoi.touchesSegment(cursor.number(before), cursor.number(before + 8), cursor.number(at), cursor.number(at + 8)))
      return true
  }
  return false
}

/** Whether a polygon touches the area: its border does, or the area lies within it. */
function polygonTouches(cursor: WkbCursor, aoi: Aoi): boolean {
  const start = cursor.at
  const rings = cursor.count()
  for (let ring = 0; ring < rings; ring++) if (lineTouches(cursor, aoi)) return true
  const end = cursor.at
  for (const [x, y] of aoi.borderPoints()) {
    cursor.at = start
    if (polygonHolds(cursor, x, y)) return true
  }
  cursor.at = end
  return false
}

function polygonHolds(cursor: WkbCursor, x: number, y: number): boolean {
  const rings = cursor.count()
  const { stride } = cursor
  let inside = false
  for (let ring = 0; ring < rings; ring++) {
    const start = cursor.positions(cursor.count())
    for (let at = start + stride; at < cursor.at; at += stride) {
      const ax = cursor.number(at - stride)
      const ay = cursor.number(at - stride + 8)
      const bx = cursor.number(at)
      const by = cursor.number(at + 8)
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
    }
  }
  return inside
}
