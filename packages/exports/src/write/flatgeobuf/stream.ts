import type { Losses } from '../../losses.ts'
import type { ExportRow } from '../../rows.ts'
import type { ExportSource } from '../../source.ts'
import { FeatureEncoder } from './features.ts'
import { MAGIC, columnTypes, headerBytes } from './header.ts'

/** Count and bounds are optional in the format, and would need another pass. */
const UNKNOWN = { features: 0, envelope: null, nodeSize: 0 }

/** Writes a FlatGeobuf without an index as rows come, geometries as ISO WKB; dates and times of day become texts. */
export async function* flatGeobufBytes(
  source: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  losses: Losses,
): AsyncGenerator<Uint8Array> {
  const types = columnTypes(source.columns, losses)
  yield MAGIC
  yield headerBytes(source, types, UNKNOWN)
  const encoder = new FeatureEncoder(source, types, losses)
  for await (const rows of batches) yield Buffer.concat(rows.map((row) => encoder.encode(row)))
}
