export {
  EMBEDDINGS_SCHEMA,
  createEmbeddingTable,
  finishEmbeddingTable,
  isFinishedEmbeddingTable,
  loadEmbeddings,
} from './embedding-table.ts'
export type { EmbeddingKind, EmbeddingRow, EmbeddingTableShape } from './embedding-table.ts'
export { findEmbeddings, registerEmbeddings, searchEmbeddings } from './catalogue.ts'
export type { CatalogueEntry, FoundEmbeddings } from './catalogue.ts'
export { findSources, writeSources } from './sources.ts'
export type { EmbeddingSource } from './sources.ts'
export { portableCatalogue, portableEntry } from './portable.ts'
