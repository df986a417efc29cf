import type { ExportFormat } from '@terrane/contracts'
import { FORMS } from './forms.ts'
import type { Losses } from './losses.ts'
import { readRows, type ExportRow, type Scanner } from './rows.ts'
import type { ExportSource } from './source.ts'
import { flatGeobufBytes } from './write/flatgeobuf/stream.ts'
import { parquetBytes } from './write/parquet/file.ts'
import { csvText, geoJsonText } from './write/text.ts'

/** Formats that can be sent while rows are still read. */
export type StreamedFormat = Exclude<ExportFormat, 'GeoPackage' | 'Shapefile'>

/** The rows of a source in the form of a format. Values without an equivalent in the format are counted. */
export function rowsFor(
  source: ExportSource,
  format: ExportFormat,
  scan: Scanner,
  losses: Losses,
): AsyncGenerator<ExportRow[]> {
  return readRows(scan, source, FORMS[format], losses)
}

/** The bytes of a file, made while rows are read. */
export function fileBytes(
  source: ExportSource,
  format: StreamedFormat,
  batches: AsyncIterable<readonly ExportRow[]>,
  losses: Losses,
): AsyncGenerator<Uint8Array | string> {
  switch (format) {
    case 'GeoJSON':
    case 'GeoJSONSeq':
      return geoJsonText(source, batches, format === 'GeoJSONSeq', losses)
    case 'CSV':
      return csvText(source, batches, losses)
    case 'GeoParquet':
      return parquetBytes(source, batches, losses)
    case 'FlatGeobuf':
      return flatGeobufBytes(source, batches, losses)
  }
}
