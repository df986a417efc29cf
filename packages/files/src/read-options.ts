import type { FieldType } from './feature-stream.ts'

/**
 * The value of `layer` for all layers.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { writeFile } from 'node:fs/promises'
 * import { ALL_LAYERS, openFile } from '@terrane/files'
 *
 * const source = (path: string) => writeFile(path, '<gpx version="1.1"><wpt lat="48.4" lon="9.99"/></gpx>')
 * await using file = await openFile(source, { layer: ALL_LAYERS })
 * assert.ok(file.layerNames.includes('waypoints'))
 * ```
 */
export const ALL_LAYERS = '*'

/** Facts that a file does not state, or states wrongly. */
export interface ReadOptions {
  /** Name of the only layer to read; `*` or absent for all. */
  readonly layer?: string
  /** Maximum number of features to read of a layer. */
  readonly limit?: number
  /**
   * Character encoding of a CSV, a Shapefile or a MapInfo table, by its name in the WHATWG list; detected when absent.
   */
  readonly encoding?: string
  /** Columns that hold coordinates or WKT, of a CSV, of sheets and of tables. */
  readonly csv?: { readonly x?: string; readonly y?: string; readonly wkt?: string }
  /** Types of columns, by their names in any case. */
  readonly types?: Readonly<Record<string, FieldType>>
  /** Reference system of the coordinates, e.g. `EPSG:25832`; replaces that of the file. */
  readonly sourceSrs?: string
  /** System that layers without an EPSG code are brought into. Default: `EPSG:4326`. */
  readonly targetSrs?: string
}

/**
 * The code of a reference system, 4326 of `EPSG:4326`.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { sridOf } from '@terrane/files'
 *
 * assert.equal(sridOf('EPSG:25832'), 25832)
 * ```
 */
export function sridOf(srs: string): number {
  return Number(srs.slice('EPSG:'.length))
}
