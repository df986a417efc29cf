import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { Compressors } from 'hyparquet'
import { compressors as others } from 'hyparquet-compressors'

/**
 * The codecs of Parquet, most of them from the runtime's own libraries; none returns more bytes than the page's header
 * declares.
 */
export const compressors: Compressors = {
  LZ4: others.LZ4!,
  LZ4_RAW: others.LZ4_RAW!,
  ZSTD: (input, size) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, size) }),
  GZIP: (input, size) => gunzipSync(input, { maxOutputLength: Math.max(1, size) }),
  BROTLI: (input, size) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, size) }),
}
