import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { Compressors } from 'hyparquet'

/** The codecs of Parquet by the runtime's own libraries; none gives more bytes than the page's head promises. */
export const compressors: Compressors = {
  ZSTD: (input, size) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, size) }),
  GZIP: (input, size) => gunzipSync(input, { maxOutputLength: Math.max(1, size) }),
  BROTLI: (input, size) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, size) }),
}
