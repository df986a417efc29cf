import { startFaux } from './emulators.ts'

// An S3 service in a process of its own, for benches: it sends its port, and ends with its parent process.
const server = await startFaux()
process.send?.({ port: server.port })
process.once('disconnect', () => void server[Symbol.asyncDispose]())
