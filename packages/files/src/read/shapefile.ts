import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { isoType, wkbHead } from '@terrane/core/wkb'
import { BatchBuilder, type FeatureBatch, type FeatureReader } from '../feature-stream.ts'
import { FileWindow, twice } from './chunks.ts'
import type { ReadRequest } from './protocol.ts'
import { encodingOfName } from './shapefile/code-pages.ts'
import { DbfTable } from './shapefile/dbf.ts'
import { ShapeReader, isKnownKind } from './shapefile/shapes.ts'
import { sridOfPrj } from './shapefile/system.ts'
import { UnusualFile } from './shapefile/unusual.ts'

const HEAD_BYTES = 100
const KIND_AT = 32
const RECORD_HEAD_BYTES = 8
/** Lengths and places are in words of 16 bits. */
const WORD_BYTES = 2
const FILE_CODE = 9994
const NO_LAYERS: FeatureReader = { layers: [], read: () => [], takeWarnings: () => [] }

interface Row {
  readonly wkb: Uint8Array | null
  readonly cells: readonly unknown[]
}

/**
 * Opens a Shapefile (ESRI Shapefile Technical Description, 1998) with its table, if both are plain: shapes without
 * heights and measures, unambiguous rings, cells that match their columns, a known encoding and reference system; or a
 * table on its own, by its path. Others, and Shapefiles without shapes, have no layers here and go to the engine.
 */
export function openShapefile({ path, encoding }: Omit<ReadRequest, 'format'>): FeatureReader {
  const base = path.slice(0, -'.shp'.length)
  const isTable = path.endsWith('.dbf')
  try {
    const rows = isTable
      ? twice([path], () => cellsOf(base, encoding))
      : twice([path, `${base}.dbf`], () => rowsOf(path, base, encoding))
    const types = new Set<number>()
    let count = 0
    rows.first(({ wkb }) => {
      count++
      const head = wkb && wkbHead(wkb)
      if (head) types.add(isoType(head))
    })
    if (types.size === 0 && !isTable) return NO_LAYERS
    using table = new DbfTable(`${base}.dbf`, encodingOf(base, encoding))
    const { fields } = table
    const srid = sridOfPrj(textOf(`${base}.prj`) ?? '')
    return {
      layers: [{ name: basename(base), rows: count, fields, hasGeometry: !isTable, geometryTypes: [...types], srid }],
      read: () => batchesOf(rows.again(), fields.length),
      takeWarnings: () => [],
    }
  } catch (error) {
    if (error instanceof UnusualFile || (error as NodeJS.ErrnoException).code === 'ENOENT') return NO_LAYERS
    throw error
  }
}

/** The rows of a table without shapes. */
function* cellsOf(base: string, encoding: string | undefined): Generator<Row> {
  using table = new DbfTable(`${base}.dbf`, encodingOf(base, encoding))
  for (let i = 0; i < table.rows; i++) {
    const cells = table.row(i)
    if (cells !== null) yield { wkb: null, cells }
  }
}

function* rowsOf(path: string, base: string, encoding: string | undefined): Generator<Row> {
  using shapes = new FileWindow(path)
  using index = new FileWindow(`${base}.shx`)
  using table = new DbfTable(`${base}.dbf`, encodingOf(base, encoding))
  const head = shapes.at(0, HEAD_BYTES)
  const kind = head?.readInt32LE(KIND_AT) ?? -1
  if (head?.readInt32BE(0) !== FILE_CODE || !isKnownKind(kind)) throw new UnusualFile(`shapes of kind ${kind}`)
  if ((index.size - HEAD_BYTES) / RECORD_HEAD_BYTES !== table.rows) throw new UnusualFile('more shapes than rows')
  const reader = new ShapeReader()
  for (let i = 0; i < table.rows; i++) {
    const cells = table.row(i)
    if (cells === null) continue
    const entry = index.at(HEAD_BYTES + i * RECORD_HEAD_BYTES, RECORD_HEAD_BYTES)!
    const [place, length] = [entry.readInt32BE(0) * WORD_BYTES, entry.readInt32BE(4) * WORD_BYTES]
    const record = shapes.at(place, RECORD_HEAD_BYTES + length)
    if (!record || record.readInt32BE(4) * WORD_BYTES !== length) throw new UnusualFile('an index of another file')
    yield { wkb: reader.wkbOf(record.subarray(RECORD_HEAD_BYTES), kind), cells }
  }
}

function* batchesOf(rows: Iterable<Row>, width: number): Generator<FeatureBatch> {
  const builder = new BatchBuilder(width)
  for (const { wkb, cells } of rows) {
    builder.add(wkb, cells)
    if (builder.isFull) yield builder.take()
  }
  if (!builder.isEmpty) yield builder.take()
}

/**
 * The encoding of the table's texts, as requested or named by a `.cpg`; null without either.
 *
 * @throws UnusualFile for an unknown encoding
 */
function encodingOf(base: string, asked: string | undefined): string | null {
  const said = asked ?? textOf(`${base}.cpg`)
  if (said === null) return null
  const known = encodingOfName(said)
  if (known === null) throw new UnusualFile(`an encoding called ${said}`)
  return known
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return null
  }
}
