/** Value of an attribute. `null` means the feature does not have it. */
export type AttributeValue = string | number | bigint | boolean | null

/**
 * Features as they come from a table: geometries packed back to back, attributes by column.
 *
 * Geometry is WKB or EWKB in EPSG:4326, longitude first; a third and fourth dimension are ignored. An empty range of
 * bytes is a missing geometry.
 */
export interface FeatureBatch {
  /** Which of the layers of the options the features belong to; 0, the first, unless given. */
  readonly layer?: number
  readonly geometry: Uint8Array
  /** Where each geometry ends in `geometry`; as many as there are features. */
  readonly geometryEnds: Uint32Array
  /** Whole numbers 0 ≤ id < 2^64 become feature ids; null where a feature has none. */
  readonly ids: readonly (number | bigint | null)[] | null
  /** One array per attribute, in the order the attributes of the layer are named. */
  readonly columns: readonly (readonly AttributeValue[])[]
}
