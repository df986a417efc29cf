/** Index of the first of ascending values that is at least `wanted`; the number of values if all are smaller. */
export function firstAtLeast(values: ArrayLike<number>, wanted: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (values[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return low
}
