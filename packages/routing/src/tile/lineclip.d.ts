declare module 'lineclip' {
  type Point = [x: number, y: number]
  /** The parts of a line within a box of west, south, east and north. */
  export function clipPolyline(points: readonly Point[], box: readonly [number, number, number, number]): Point[][]
}
