const NONE = -1

/** Fills the invalid pixels of square tiles of one side; reuses its buffers. Not re-entrant. */
export interface TileFiller {
  /** @param valid 1 for valid pixels; at least one pixel is valid */
  fill(planes: Float32Array, valid: Uint8Array): void
}

/**
 * Fills by mirroring: along a row, a gap is reflected from the valid runs on both of its sides, each half from the
 * nearer one; rows without any valid pixel are reflected from the filled rows above and below. Mirroring preserves
 * texture and colour, whereas a constant would create an edge.
 */
export function createTileFiller(side: number): TileFiller {
  const sources = new Int32Array(side * side)
  const filledRows = new Uint8Array(side)
  const line = new Int32Array(side)
  return {
    fill(planes, valid) {
      for (let row = 0, start = 0; row < side; row++, start += side) {
        mirrorLine(valid.subarray(start, start + side), line)
        filledRows[row] = line[0] === NONE ? 0 : 1
        for (let x = 0; x < side; x++) sources[start + x] = start + (line[x] as number)
      }
      mirrorLine(filledRows, line)
      for (let row = 0; row < side; row++) {
        const from = (line[row] as number) * side
        if (from !== row * side) sources.copyWithin(row * side, from, from + side)
      }
      for (let plane = 0; plane < planes.length; plane += sources.length) copyWithinPlane(planes, plane, sources)
    },
  }
}

function copyWithinPlane(planes: Float32Array, plane: number, sources: Int32Array): void {
  for (let i = 0; i < sources.length; i++) {
    const source = sources[i] as number
    if (source !== i) planes[plane + i] = planes[plane + source] as number
  }
}

/**
 * For each position of a line, the valid position to copy: itself, or its mirror image; NONE when no position is valid.
 */
function mirrorLine(valid: Uint8Array, sources: Int32Array): void {
  const length = valid.length
  let runStart = 0
  let gapStart = 0
  while (gapStart < length) {
    const gapEnd = endOfRun(valid, gapStart, 0)
    const nextEnd = endOfRun(valid, gapEnd, 1)
    for (let i = gapStart; i < gapEnd; i++) sources[i] = mirrorImage(i, runStart, gapStart, gapEnd, nextEnd)
    for (let i = gapEnd; i < nextEnd; i++) sources[i] = i
    runStart = gapEnd
    gapStart = nextEnd
  }
}

function endOfRun(valid: Uint8Array, start: number, flag: 0 | 1): number {
  let end = start
  while (end < valid.length && valid[end] === flag) end++
  return end
}

/** The gap `[gapStart, gapEnd)` lies between the valid runs `[runStart, gapStart)` and `[gapEnd, nextEnd)`. */
function mirrorImage(at: number, runStart: number, gapStart: number, gapEnd: number, nextEnd: number): number {
  const left = gapStart - runStart
  const right = nextEnd - gapEnd
  if (left === 0 && right === 0) return NONE
  const fromLeft = at - gapStart
  const fromRight = gapEnd - 1 - at
  if (left !== 0 && (right === 0 || fromLeft <= fromRight)) return gapStart - 1 - reflect(fromLeft, left)
  return gapEnd + reflect(fromRight, right)
}

/** Position in a run that is reflected back and forth: 0 1 2 2 1 0 0 1 2 … */
function reflect(distance: number, length: number): number {
  const phase = distance % (2 * length)
  return phase < length ? phase : 2 * length - 1 - phase
}
