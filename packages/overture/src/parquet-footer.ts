import { parquetMetadata, parquetSchema } from 'hyparquet'
import type { FileMetaData, RowGroup, SchemaTree } from 'hyparquet'
import type { Aoi } from '@terrane/core'
import { parquetInvalid } from './errors.ts'
import { paddedBox } from './padded-box.ts'
import type { RangeSource } from './range-fetch.ts'
import { RemoteFile } from './remote-file.ts'

/** The footers of most files fit into the first read; it also holds the size of larger ones. */
const FIRST_READ = 1 << 16
const LARGEST_FOOTER = 1 << 27
const MAGIC = 'PAR1'

/** Largest row group in memory, in bytes; a larger one is refused before it is read. */
const MAX_GROUP_BYTES = 2 ** 30

/** A row group and where its bytes are. */
export interface GroupPlace {
  readonly index: number
  readonly firstRow: number
  readonly rows: number
  readonly start: number
  readonly end: number
}

/** A remote GeoParquet file with its footer. */
export interface ParquetFile {
  readonly file: RemoteFile
  readonly footer: Uint8Array<ArrayBuffer>
  readonly schema: SchemaTree
  readonly groups: readonly GroupPlace[]
  readonly metadata: FileMetaData
}

/** Parses a footer. Geometry columns keep their physical type, because their bytes are passed on undecoded. */
export function parseFooter(footer: Uint8Array<ArrayBuffer>): FileMetaData {
  return parquetMetadata(footer.buffer, { geoparquet: false })
}

/** Opens a GeoParquet file and checks its footer. @throws PARQUET_INVALID, what reading throws */
export async function openParquet(source: RangeSource, url: string): Promise<ParquetFile> {
  const file = await RemoteFile.open(source, url, FIRST_READ)
  const name = new URL(url).pathname.split('/').at(-1) ?? url
  const fail = (reason: string, cause?: unknown) => parquetInvalid({ file: name, reason }, { cause })
  const { tail } = file
  const text = Buffer.from(tail.subarray(-4)).toString('latin1')
  if (tail.length < 12 || text !== MAGIC) throw fail('it does not end as a Parquet file does')
  const length = new DataView(tail.buffer).getUint32(tail.length - 8, true) + 8
  if (length > LARGEST_FOOTER || length + 4 > file.size) throw fail(`its footer claims ${length} bytes`)
  const footer = await file.read(file.size - length, file.size)
  try {
    const metadata = parseFooter(footer)
    return { file, footer, metadata, schema: parquetSchema(metadata), groups: placesOf(metadata, file.size - length) }
  } catch (cause) {
    throw fail(cause instanceof Error ? cause.message : 'its footer cannot be read', cause)
  }
}

/** The row groups whose bounding box statistics touch the area; row groups without statistics count as touching. */
export function groupsTouching({ groups, metadata }: ParquetFile, aoi: Aoi): GroupPlace[] {
  return groups.filter(({ index }) => {
    const box = boxOf(metadata.row_groups[index]!)
    return box === null || aoi.relateBox(...box) !== 'outside'
  })
}

/** Checks all values of a footer on which reads and memory depend. */
function placesOf(metadata: FileMetaData, dataEnd: number): GroupPlace[] {
  let firstRow = 0
  const places = metadata.row_groups.map((group, index) => {
    const rows = Number(group.num_rows)
    const place = { index, firstRow, rows, ...rangeOf(group) }
    if (!Number.isSafeInteger(rows) || rows < 0) throw new Error(`row group ${index} claims ${rows} rows`)
    if (!(place.start >= 4 && place.end <= dataEnd)) throw new Error(`row group ${index} is outside the file`)
    const unpacked = group.columns.reduce((sum, { meta_data: m }) => sum + Number(m?.total_uncompressed_size ?? 0), 0)
    if (unpacked > MAX_GROUP_BYTES || rows > MAX_GROUP_BYTES / 16) throw new Error(`row group ${index} is too large`)
    for (const { meta_data: m } of group.columns) {
      // A column of lists has more values than rows, never fewer.
      if (!m || Number(m.num_values) < rows) throw new Error(`a column of row group ${index} has too few values`)
    }
    firstRow += rows
    return place
  })
  if (BigInt(firstRow) !== metadata.num_rows) {
    throw new Error(`it claims ${metadata.num_rows} rows, its row groups ${firstRow}`)
  }
  return places
}

function rangeOf(group: RowGroup): { start: number; end: number } {
  let start = Number.POSITIVE_INFINITY
  let end = 0
  for (const { meta_data: m } of group.columns) {
    if (!m) continue
    const dictionary = m.dictionary_page_offset ? Number(m.dictionary_page_offset) : Number.POSITIVE_INFINITY
    const first = Math.min(Number(m.data_page_offset), dictionary)
    start = Math.min(start, first)
    end = Math.max(end, first + Number(m.total_compressed_size))
  }
  return { start, end }
}

/** The box of all rows of a group, or null where statistics are missing. */
function boxOf(group: RowGroup): [number, number, number, number] | null {
  const of = (path: string, which: 'min' | 'max'): number => {
    const column = group.columns.find(({ meta_data: m }) => m?.path_in_schema.join('.') === path)
    const statistics = column?.meta_data?.statistics
    const value = statistics?.[`${which}_value`] ?? statistics?.[which]
    return typeof value === 'number' ? value : Number.NaN
  }
  const box: [number, number, number, number] = [
    of('bbox.xmin', 'min'),
    of('bbox.ymin', 'min'),
    of('bbox.xmax', 'max'),
    of('bbox.ymax', 'max'),
  ]
  return box.some(Number.isNaN) ? null : paddedBox(...box)
}
