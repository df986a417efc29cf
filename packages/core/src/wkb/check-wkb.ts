import { WkbCursor, WkbError } from './wkb-cursor.ts'

/** Reasons why PostGIS refuses a geometry. */
export type WkbProblem = 'damaged' | 'short line' | 'open ring' | 'short ring' | 'odd part'

const POINT = 1
const LINES = new Set([2, 8])
const RINGED = new Set([3, 17])
/** Type codes of MultiPoint, MultiLineString and MultiPolygon. */
const MULTIS = new Set([4, 5, 6])
const TO_SINGLE = 3
const LEAST_ON_LINE = 2
const LEAST_ON_RING = 4
const DEEPEST = 32

/** Checks for what PostGIS refuses: lines of one position, rings open or below four, missing bytes. Null if valid. */
export function wkbProblem(wkb: Uint8Array): WkbProblem | null {
  return problemAt(new WkbCursor(wkb))
}

/** {@link wkbProblem} of the geometry at a cursor. */
export function problemAt(cursor: WkbCursor): WkbProblem | null {
  try {
    return geometryProblem(cursor, 0, null)
  } catch (error) {
    if (error instanceof WkbError) return 'damaged'
    throw error
  }
}

/** @param wanted the only allowed type code of a part; null allows all */
function geometryProblem(cursor: WkbCursor, depth: number, wanted: number | null): WkbProblem | null {
  if (depth > DEEPEST) return 'damaged'
  const code = cursor.head()
  if (wanted !== null && code !== wanted) return 'odd part'
  if (code === POINT) {
    cursor.positions(1)
    return null
  }
  const count = cursor.count()
  if (LINES.has(code)) {
    cursor.positions(count)
    return count > 0 && count < LEAST_ON_LINE ? 'short line' : null
  }
  for (let i = 0; i < count; i++) {
    const part = MULTIS.has(code) ? code - TO_SINGLE : null
    const problem = RINGED.has(code) ? ringProblem(cursor) : geometryProblem(cursor, depth + 1, part)
    if (problem !== null) return problem
  }
  return null
}

function ringProblem(cursor: WkbCursor): WkbProblem | null {
  const count = cursor.count()
  const start = cursor.positions(count)
  if (count === 0) return 'short ring'
  const last = start + (count - 1) * cursor.stride
  for (const place of [0, 8])
    if (cursor.view.getBigUint64(start + place) !== cursor.view.getBigUint64(last + place)) return 'open ring'
  return count < LEAST_ON_RING ? 'short ring' : null
}
