import type { Warning, Warnings } from '@terrane/core/errors'
import type { LayerSchema, LayerSource } from './feature-stream.ts'
import { sridOf, type ReadOptions } from './read-options.ts'
import type { ReadRequest } from './read/protocol.ts'
import { Reading, type ReadingPlace } from './read/reading.ts'

/** Formats of sheets, which may hold coordinates in their columns. */
export const WORKBOOKS: ReadonlySet<string> = new Set(['XLSX', 'ODS'])

/** Formats whose text encoding is passed to the engine. */
export const ENCODED_BY_ENGINE: ReadonlySet<string> = new Set(['ESRI Shapefile', 'MapInfo File'])

/** A data set that can be read, and the warnings so far. */
export interface OpenedDataset extends AsyncDisposable {
  readonly reading: LayerSource
  /** Facts about the whole file. */
  readonly notes: readonly Warning[]
  /** All layers of the file, requested or not. */
  readonly layerNames: readonly string[]
  /** Number of features of a layer that the engine could not convert; they are counted as a warning. */
  lostOf(layer: number, limit: number, warnings: Warnings): number
}

/** Opens a file with the reader of its format. */
export function openReading(
  { path, format }: Pick<ReadRequest, 'path' | 'format'>,
  options: ReadOptions,
  place: ReadingPlace,
  exchange: Pick<ReadRequest, 'types' | 'isUntyped' | 'isWorkbook' | 'missing'> = {},
) {
  const { encoding, csv, sourceSrs, types: columnTypes } = options
  const srid = sourceSrs === undefined ? {} : { srid: sridOf(sourceSrs) }
  const asked = { ...(encoding && { encoding }), ...(csv && { csv }), ...(columnTypes && { columnTypes }) }
  return Reading.open({ path, format, ...srid, ...exchange, ...asked }, place)
}

/** Whether a layer with geometries has no system that has an EPSG code. */
export function hasUnknownSystem(layers: readonly LayerSchema[]): boolean {
  return layers.some(({ srid, geometryTypes }) => srid === null && geometryTypes.length > 0)
}
