export { bulkLoad, loadEncoded } from './bulk-load.ts'
export type { BulkLoadOptions, BulkLoadTarget } from './bulk-load.ts'
export { JsonText } from './columns.ts'
export type { Column, ColumnType, Row } from './columns.ts'
