/** Value of an attribute; null when the feature lacks it. */
export type AttributeValue = string | number | bigint | boolean | null

/**
 * Features of a table: geometries packed back to back, attributes by column.
 *
 * Geometry is WKB or EWKB in EPSG:4326, longitude first; a third and fourth dimension are ignored. An empty range of
 * bytes is a missing geometry.
 */
export interface FeatureBatch {
  /** Index of the layer in the options; default 0. */
  readonly layer?: number
  readonly geometry: Uint8Array
  /** End of each geometry in `geometry`; one entry per feature. */
  readonly geometryEnds: Uint32Array
  /** Whole numbers 0 ≤ id < 2^64 as feature ids; null for a feature without an id. */
  readonly ids: readonly (number | bigint | null)[] | null
  /** One array per attribute, in the order the attributes of the layer are named. */
  readonly columns: readonly (readonly AttributeValue[])[]
}
