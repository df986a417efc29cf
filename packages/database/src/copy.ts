// Rows for COPY, without a database: for processes that have none and are to start soon.
export { CopyEncoder } from './bulk-load/copy-binary.ts'
export { JsonText, type ColumnType } from './bulk-load/columns.ts'
