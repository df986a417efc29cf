// A process of its own: reads a file that a stranger sent, by readers without GDAL. It has no network, writes nowhere, and
// can be killed at any moment. Requests come on standard input, frames go to standard output.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { frameBytes } from './protocol.ts'
import { serveReading } from './serve-reading.ts'

const OUTPUT = 1
const RETRY_MS = 1

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
await serveReading(lines, (frame, payload) => {
  for (const bytes of frameBytes(frame, payload)) writeAll(bytes)
})
process.exit(0)

/** Writes to a pipe whose reader may be slower. */
function writeAll(bytes: Uint8Array): void {
  for (let sent = 0; sent < bytes.length;) {
    try {
      sent += writeSync(OUTPUT, bytes, sent)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
  }
}
