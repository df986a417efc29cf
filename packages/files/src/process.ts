// For the program of a reading process that encodes rows. It loads no more than a reader needs.
export type { FeatureBatch, FieldType, MakeEncoder, RowEncoder } from './feature-stream.ts'
export { serveProcess } from './read/serve-process.ts'
