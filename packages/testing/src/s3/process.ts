import { startFaux } from './emulators.ts'

// An S3 service in a process of its own, for benches: it tells its port, and ends with whoever forked it.
const server = await startFaux()
process.send?.({ port: server.port })
process.once('disconnect', () => void server[Symbol.asyncDispose]())
