import type { Aoi, Bbox, OnProgress } from '@terrane/core'
import type { OsmHeader } from '../block.ts'
import type { FeatureCounts } from '../features/feature.ts'
import type { NodeLimits } from '../features/node-locations.ts'
import { readFeatures } from '../features/read-features.ts'
import type { OsmReader } from '../reader.ts'
import { importTable } from './import-table.ts'
import type { ImportTable } from './import-table.ts'
import { chosenTables } from './tables.ts'
import type { Topics } from './tables.ts'
import { TopicRows } from './topic-rows.ts'
import type { ImportRow } from './topic-rows.ts'

/** Takes the rows of an import. */
export interface RowSink {
  /** Takes ownership of rows of a table, in ascending `id`; the import waits for a promise. */
  write(table: number, rows: readonly ImportRow[]): Promise<void> | void
}

export interface ImportOptions extends NodeLimits {
  readonly signal?: AbortSignal
  readonly onProgress?: OnProgress
  /** Rows handed over at a time. */
  readonly batchRows?: number
}

export interface ImportResult {
  readonly header: OsmHeader
  /** Rows and the box around them by table, in the order of {@link topicTables}. */
  readonly tables: readonly { readonly rows: number; readonly bbox: Bbox | null }[]
  readonly counts: FeatureCounts
  /** Rows of generalized tables that stayed unchanged because simplifying them would take too long. */
  readonly unsimplified: number
}

const BATCH_ROWS = 2000
/** Approximate maximum bytes of rows that wait for the sink. */
const BATCH_BYTES = 32 * 2 ** 20
/** Bytes of a row, and of each of its values, without texts and geometries. */
const ROW_BYTES = 100
const VALUE_BYTES = 16

/**
 * The tables of some topics, or of a style; of all topics when the list is absent or empty. Topic `all` is four tables of
 * everything.
 * @throws OSM_TOPIC_UNKNOWN, OSM_STYLE_INVALID
 */
export function topicTables(topics?: Topics): readonly ImportTable[] {
  return chosenTables(topics).map(importTable)
}

/**
 * Reads a file and passes the rows of the topics' tables to the sink: complete features that touch the area of
 * interest.
 *
 * @param aoi the area of interest; everything in the file when null
 * @throws OSM_TOPIC_UNKNOWN, OSM_STYLE_INVALID, OSM_TOO_LARGE, and what reader, sink, temporary files and signal throw
 */
export async function importOsmArea(
  reader: OsmReader,
  aoi: Aoi | null,
  topics: Topics | undefined,
  sink: RowSink,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const tables = chosenTables(topics)
  const batchRows = options.batchRows ?? BATCH_ROWS
  const pending: ImportRow[][] = tables.map(() => [])
  let isBatch = false
  let bytes = 0
  const pendingBytes = tables.map(() => 0)
  const topicRows = new TopicRows(tables, (table, row) => {
    const batch = pending[table]!
    batch.push(row)
    isBatch ||= batch.length >= batchRows
    const size = bytesOf(row)
    pendingBytes[table]! += size
    bytes += size
  })
  const flush = async (least: number): Promise<void> => {
    isBatch = false
    for (const [table, batch] of pending.entries()) {
      if (batch.length < least) continue
      pending[table] = []
      bytes -= pendingBytes[table]!
      pendingBytes[table] = 0
      await sink.write(table, batch)
    }
  }
  const visitor = {
    tags: topicRows.tags,
    select: topicRows.select.bind(topicRows),
    visit: topicRows.visit.bind(topicRows),
    get isFull() {
      return bytes > BATCH_BYTES
    },
    drain: () => (bytes > BATCH_BYTES ? flush(1) : isBatch ? flush(batchRows) : undefined),
  }
  const { header, counts } = await readFeatures(reader, visitor, { ...options, aoi })
  await flush(1)
  return { header, tables: topicRows.totals, counts, unsimplified: topicRows.unsimplified }
}

function bytesOf(row: ImportRow): number {
  let bytes = ROW_BYTES + row.length * VALUE_BYTES
  for (const value of row) {
    if (typeof value === 'string') bytes += value.length
    else if (value instanceof Uint8Array) bytes += value.length
  }
  return bytes
}
