export { TerraneError, defineError } from './errors.ts'
export type { ErrorExtras, ErrorKind, FieldError } from './errors.ts'
export { reviveError, toPlainError } from './plain-error.ts'
export type { PlainError } from './plain-error.ts'
