export { TerraneError, defineError } from './errors.ts'
export type { ErrorExtras, ErrorKind, FieldError } from './errors.ts'
export type { OnProgress, Progress } from './progress.ts'
export { seededRandom } from './random.ts'
