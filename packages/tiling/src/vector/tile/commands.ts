import type { Path } from '@terrane/core'
import { writeVarint, zigzag } from '../bytes/varint.ts'

const MOVE_TO = 1
const LINE_TO = 2
const CLOSE_PATH = 7

/** Maximum bytes of the commands of a path within a tile and its buffer. */
export function commandsSizeBound(path: Path): number {
  return path.length * 3 + path.parts * 12 + 8
}

/**
 * Writes geometry as Vector Tile commands (specification 2.1, section 4.3); returns the position after it. Rings and
 * lines are parts of whole coordinates with at least two vertices.
 */
export function writePath(bytes: Uint8Array, start: number, path: Path, isClosed: boolean): number {
  let at = start
  let px = 0
  let py = 0
  const xy = path.xy
  for (let part = 0; part < path.parts; part++) {
    let i = path.startOf(part)
    const end = path.ends[part]!
    at = writeVarint(bytes, at, MOVE_TO | (1 << 3))
    for (let first = true; i < end; i += 2) {
      const x = xy[i]!
      const y = xy[i + 1]!
      at = writeVarint(bytes, at, zigzag(x - px))
      at = writeVarint(bytes, at, zigzag(y - py))
      px = x
      py = y
      if (first) {
        at = writeVarint(bytes, at, LINE_TO | ((((end - i) >> 1) - 1) << 3))
        first = false
      }
    }
    if (isClosed) at = writeVarint(bytes, at, CLOSE_PATH | (1 << 3))
  }
  return at
}

/** Writes all vertices of a path as one multipoint; returns the position after it. */
export function writePoints(bytes: Uint8Array, start: number, path: Path): number {
  let at = writeVarint(bytes, start, MOVE_TO | ((path.length / 2) << 3))
  let px = 0
  let py = 0
  for (let i = 0; i < path.length; i += 2) {
    const x = path.xy[i]!
    const y = path.xy[i + 1]!
    at = writeVarint(bytes, at, zigzag(x - px))
    at = writeVarint(bytes, at, zigzag(y - py))
    px = x
    py = y
  }
  return at
}
