// Encoding of rows for COPY without the driver, for processes that need no connection and must start quickly.
export { CopyEncoder } from './bulk-load/copy-binary.ts'
export { JsonText, type ColumnType } from './bulk-load/columns.ts'
