export * from './import-table.ts'
export { mergeImport } from './merge-import.ts'
export type { MergedRows } from './merge-import.ts'
