export { compressors } from './parquet-codecs.ts'
export { openVectorTable } from './read/parquet-vectors.ts'
export type { VectorColumns, VectorRows, VectorTable } from './read/parquet-vectors.ts'
