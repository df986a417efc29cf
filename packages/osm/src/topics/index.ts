export { readStyle } from './read-style.ts'
export { STYLE_LIMITS } from './style-limits.ts'
export type { ColumnDefinition, Filter, GeneralizedTable, OsmStyle, StyleColumn, StyleTable } from './style.ts'
