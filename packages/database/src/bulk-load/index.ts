export { bulkLoad, loadEncoded } from './bulk-load.ts'
export { JsonText } from './columns.ts'
export type { Column, Row } from './columns.ts'
