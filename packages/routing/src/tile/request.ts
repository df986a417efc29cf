import { parse } from '../request/parts.ts'
import { RouteProblem } from '../request/problems.ts'
import { integerOf, isObject } from '../request/read.ts'

/** A tile of the Web Mercator pyramid, rows counted from the north. */
export interface TileRequest {
  readonly z: number
  readonly x: number
  readonly y: number
}

/** Highest zoom of a tile, as Valhalla's. */
const HIGHEST_ZOOM = 30

/**
 * Reads a request for `tile`: `{"tile": {"z": 14, "x": 8717, "y": 5683}}`.
 *
 * @throws RouteProblem 174 when a coordinate is missing or outside of its zoom
 */
export function readTileRequest(text: string): TileRequest {
  const { tile } = parse(text)
  const [z, x, y] = ['z', 'x', 'y'].map((name) => (isObject(tile) ? integerOf(tile[name]) : null))
  const side = 2 ** (z ?? 0)
  const isInside = (value: number | null | undefined): value is number => value != null && value >= 0 && value < side
  if (z == null || z < 0 || z > HIGHEST_ZOOM || !isInside(x) || !isInside(y)) throw new RouteProblem(174)
  return { z, x, y }
}
