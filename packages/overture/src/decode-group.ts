import { parquetRead, toJson } from 'hyparquet'
import type { FileMetaData } from 'hyparquet'
import { toEwkb, type Aoi } from '@terrane/core'
import type { OvertureColumn } from './columns.ts'
import { compressors } from '@terrane/files/parquet'
import type { GroupPlace } from './parquet-footer.ts'
import { paddedBox } from './padded-box.ts'
import { type Family, familyOf, touches } from './wkb.ts'

const WGS84 = 4326

/** The rows of a row group that touch the area, by geometry family. */
export interface DecodedRows {
  readonly family: Exclude<Family, 'other'>
  /** EWKB. */
  readonly geometries: readonly Uint8Array[]
  /** One array per column; jsonb as text. */
  readonly columns: readonly (readonly unknown[])[]
}

export interface DecodeRequest {
  readonly metadata: FileMetaData
  readonly fileSize: number
  readonly place: GroupPlace
  /** The bytes of the row group. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly columns: readonly OvertureColumn[]
  /** Families whose geometries become collections. */
  readonly multi: readonly Family[]
}

/**
 * Decodes the rows of a row group that touch the area: bounding boxes first, then the exact geometry of the undecided
 * rows, then the other columns. WKB is passed through.
 *
 * @throws Error when the bytes do not match the footer
 */
export async function decodeGroup(request: DecodeRequest, aoi: Aoi): Promise<DecodedRows[]> {
  const names = new Set(request.metadata.schema.map(({ name }) => name))
  const geometryColumns = names.has('bbox') ? ['geometry', 'bbox'] : ['geometry']
  const first = await readColumns(request, geometryColumns)
  const geometries = first.get('geometry')! as (Uint8Array | null)[]
  const hits = hitsByFamily(geometries, first.get('bbox') as (Box | null)[] | undefined, aoi)
  if (hits.size === 0) return []
  const fields = [...new Set(request.columns.map(({ field }) => field))].filter((field) => names.has(field))
  const values = await readColumns(request, fields)
  return [...hits].map(([family, rows]) => ({
    family,
    geometries: rows.map((row) => toEwkb(geometries[row]!, WGS84, request.multi.includes(family))),
    columns: request.columns.map((column) => pick(values.get(column.field), rows, column)),
  }))
}

interface Box {
  readonly xmin: number
  readonly ymin: number
  readonly xmax: number
  readonly ymax: number
}

function hitsByFamily(
  geometries: readonly (Uint8Array | null)[],
  boxes: readonly (Box | null)[] | undefined,
  aoi: Aoi,
): Map<DecodedRows['family'], number[]> {
  const hits = new Map<DecodedRows['family'], number[]>()
  for (const [row, wkb] of geometries.entries()) {
    if (wkb === null || wkb === undefined) continue
    const family = familyOf(wkb)
    if (family === 'other') throw new Error('a geometry is neither point, line nor polygon')
    const box = boxes?.[row]
    const relation = box ? aoi.relateBox(...paddedBox(box.xmin, box.ymin, box.xmax, box.ymax)) : 'crossing'
    if (relation === 'outside' || (relation === 'crossing' && !touches(wkb, aoi))) continue
    const rows = hits.get(family)
    if (rows) rows.push(row)
    else hits.set(family, [row])
  }
  return hits
}

/** Reads whole columns of the row group. */
async function readColumns(request: DecodeRequest, columns: string[]): Promise<Map<string, unknown[]>> {
  const { metadata, fileSize, place, bytes } = request
  const read = new Map<string, unknown[]>(columns.map((name) => [name, []]))
  await parquetRead({
    file: {
      byteLength: fileSize,
      slice: (start, end) => bytes.buffer.slice(start - place.start, (end ?? fileSize) - place.start),
    },
    metadata,
    columns,
    rowStart: place.firstRow,
    rowEnd: place.firstRow + place.rows,
    compressors,
    // The geometry column is bytes, not text and not GeoJSON.
    utf8: false,
    geoparquet: false,
    parsers: { geometryFromBytes: (wkb) => wkb, geographyFromBytes: (wkb) => wkb },
    onChunk: ({ columnName, columnData }) => {
      const values = read.get(columnName)!
      for (const value of columnData as Iterable<unknown>) values.push(value)
    },
  })
  for (const [name, values] of read) {
    if (values.length !== place.rows) {
      throw new Error(`column ${name} of row group ${place.index} has ${values.length} rows, not ${place.rows}`)
    }
  }
  return read
}

function pick(values: readonly unknown[] | undefined, rows: readonly number[], column: OvertureColumn): unknown[] {
  if (!values) return rows.map(() => null)
  const { member, type } = column
  return rows.map((row) => {
    const value = member === null ? values[row] : (values[row] as Record<string, unknown> | null)?.[member]
    if (value === null || value === undefined) return null
    if (type === 'jsonb') return jsonOf(value)
    return type === 'text' && typeof value !== 'string' ? textOf(value) : value
  })
}

/** JSON without NUL characters, which PostgreSQL cannot store. */
function jsonOf(value: unknown): string {
  const text = JSON.stringify(toJson(value))
  return text.includes('\\u0000') ? text.replaceAll(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1') : text
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : String(value)
}
