/**
 * Whether all positions of a GeoJSON geometry are numbers. PostGIS reads other values as 0 without an error.
 *
 * @param isNumber tells what a number is, where numbers are not those of JavaScript
 * @example
 * hasNumericPositions({ type: 'Point', coordinates: ['9', 48] }) // false
 */
export function hasNumericPositions(
  geometry: unknown,
  isNumber: (value: unknown) => boolean = (value) => Number.isFinite(value),
): boolean {
  const { coordinates = [], geometries = [] } = (geometry ?? {}) as { coordinates?: unknown; geometries?: unknown }
  // A position, or a list of these to any depth.
  const arePositions = (value: unknown): boolean =>
    Array.isArray(value) &&
    (value.some((one) => Array.isArray(one)) ? value.every(arePositions) : value.every((one) => isNumber(one)))
  if (!arePositions(coordinates) || !Array.isArray(geometries)) return false
  return geometries.every((one) => hasNumericPositions(one, isNumber))
}
