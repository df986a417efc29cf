export { Thread } from './thread.ts'
export type { ThreadOptions } from './thread.ts'
export { serveThread } from './serve-thread.ts'
export type { EmitEvent, ThreadMethods } from './serve-thread.ts'
