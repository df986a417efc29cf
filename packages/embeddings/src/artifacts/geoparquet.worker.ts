import { serveThread } from '@terrane/core/threads'

import { GeoParquetFile, type ParquetMethods, type ParquetSetup } from './geoparquet-file.ts'

serveThread<ParquetSetup, ParquetMethods, Uint8Array>((setup, emit) => {
  const file = new GeoParquetFile(setup, (bytes) => emit(bytes, [bytes.buffer]))
  return { append: (rows) => file.append(rows), finish: () => file.finish() }
})
