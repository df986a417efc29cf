/** Relative distance of neighbouring single-precision numbers. */
const STEP = 2 ** -23

/** A box with a margin for rounding: the files store boxes in single precision and may have rounded them inwards. */
export function paddedBox(
  west: number,
  south: number,
  east: number,
  north: number,
): [west: number, south: number, east: number, north: number] {
  return [
    west - Math.abs(west) * STEP,
    south - Math.abs(south) * STEP,
    east + Math.abs(east) * STEP,
    north + Math.abs(north) * STEP,
  ]
}
