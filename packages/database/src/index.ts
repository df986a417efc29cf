export { openDatabase, qualified, quoteIdentifier, quoteLiteral } from './database.ts'
export type { Database, DatabaseOptions, Queryable, Session } from './database.ts'
export type { Capabilities } from './capabilities.ts'
export { migrate, refuseOtherSchema, refuseOtherVersion } from './migrate.ts'
export type { MigrationSet } from './migrate.ts'
export { bulkLoad, loadEncoded } from './bulk-load/bulk-load.ts'
export type { BulkLoadOptions, BulkLoadTarget } from './bulk-load/bulk-load.ts'
export { JsonText } from './bulk-load/columns.ts'
export type { Column, ColumnType, Row } from './bulk-load/columns.ts'
export {
  STAGING_SCHEMA,
  appliedResult,
  dropStaging,
  relationExists,
  stagedJobIds,
  stagedTable,
  swapIn,
} from './staging.ts'
export type { StagedTable } from './staging.ts'
export { beginRun, closeRuns } from './job-runs.ts'
export { dropCheckpoint, keepCheckpoint, takeOver } from './checkpoints.ts'
export type { JobRun } from './job-runs.ts'
export {
  EMBEDDINGS_SCHEMA,
  createEmbeddingTable,
  finishEmbeddingTable,
  isFinishedEmbeddingTable,
  loadEmbeddings,
} from './geoembeddings/embedding-table.ts'
export type { EmbeddingKind, EmbeddingRow, EmbeddingTableShape } from './geoembeddings/embedding-table.ts'
export { findEmbeddings, registerEmbeddings, searchEmbeddings } from './geoembeddings/catalogue.ts'
export type { CatalogueEntry, FoundEmbeddings } from './geoembeddings/catalogue.ts'
export {
  addToCollection,
  appendCollection,
  collectionTable,
  dropCollection,
  findAppendable,
  openCollection,
} from './geoembeddings/collection.ts'
export type { Appendable, AppendedTable } from './geoembeddings/collection.ts'
export { MAX_SOURCE, findSources, writeSources } from './geoembeddings/sources.ts'
export type { EmbeddingSource, NumberedSource } from './geoembeddings/sources.ts'
export { LentSession } from './lent-session.ts'
export { moveDatabase } from './transfer/move-database.ts'
export type { Moved } from './transfer/move-database.ts'
export { DatabaseReader } from './transfer/read-database.ts'
export type { DatabaseOutline } from './transfer/read-database.ts'
export { refuseUnlessEmpty, writeDatabase } from './transfer/write-database.ts'
export type { Transferred } from './transfer/write-database.ts'
export { databaseUnavailable, tableExists } from './errors.ts'
export { chooseGeometry, describeColumns, readTable } from './tables/read-table.ts'
export type { ColumnFacts } from './tables/read-table.ts'
export {
  areaFromGeoJson,
  clipImport,
  createImportTables,
  finishImportTable,
  isFinishedImportTable,
  measureImport,
  registerImport,
} from './imports/import-table.ts'
export type { ImportRecord, ImportShape } from './imports/import-table.ts'
export { literals, orderClause, Parameters, selectList, whereClause } from './rest-query/build-sql.ts'
export type { ValueTexts } from './rest-query/build-sql.ts'
export { badQuery } from './rest-query/errors.ts'
export { isArgument, parseQuery } from './rest-query/parse-query.ts'
export type { Condition, RestQuery } from './rest-query/parse-query.ts'
export { scan, scanSession } from './scan/scan.ts'
export type { ScanOptions } from './scan/scan.ts'
export type { PackedBytes, ScanBatch, ScanColumn, ScanType, ScanValues } from './scan/columns.ts'
