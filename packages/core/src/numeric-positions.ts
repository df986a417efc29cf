/**
 * Whether all positions of a GeoJSON geometry are numbers. PostGIS reads other values as 0 without an error.
 *
 * @param isNumber recognises numbers that are not JavaScript numbers
 * @example
 * hasNumericPositions({ type: 'Point', coordinates: ['9', 48] }) // false
 */
export function hasNumericPositions(
  geometry: unknown,
  isNumber: (value: unknown) => boolean = (value) => Number.isFinite(value),
): boolean {
  // A position, or a list of these to any depth.
  const arePositions = (value: unknown): boolean =>
    Array.isArray(value) &&
    (value.some((one) => Array.isArray(one)) ? value.every(arePositions) : value.every((one) => isNumber(one)))
  return Object.entries(geometry ?? {}).every(([name, value]: [string, unknown]) => {
    // PostGIS finds members in any case of their names.
    const member = name.toLowerCase()
    if (member === 'coordinates') return arePositions(value)
    return member !== 'geometries' || (Array.isArray(value) && value.every((one) => hasNumericPositions(one, isNumber)))
  })
}
