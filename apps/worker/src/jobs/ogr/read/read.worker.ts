// A process of its own: reads a file that a stranger sent, by readers without GDAL. It has no network, writes nowhere, and
// can be killed at any moment. It takes two lines of JSON, what to open and which layers, and answers by frames.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { TerraneError, toPlainError } from '@terrane/core'
import { conversionFailed } from '../errors.ts'
import { openReader } from './open-reader.ts'
import { frameBytes, type Frame, type ReadRequest } from './protocol.ts'

const OUTPUT = 1
const RETRY_MS = 1

try {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const request = JSON.parse(await lineOf(lines)) as ReadRequest
  const reader = await openReader(request)
  send({ kind: 'layers', layers: reader.layers, warnings: reader.takeWarnings() })
  for (const layer of JSON.parse(await lineOf(lines)) as number[]) {
    for await (const batch of reader.read(layer)) send({ kind: 'batch', layer, batch })
    send({ kind: 'end', layer, warnings: reader.takeWarnings() })
  }
} catch (error) {
  const shown = error instanceof TerraneError ? error : conversionFailed({ reason: (error as Error).message })
  send({ kind: 'error', error: toPlainError(shown) })
}
process.exit(0)

async function lineOf(lines: AsyncIterator<string>): Promise<string> {
  const { value, done } = await lines.next()
  if (done === true) process.exit(0)
  return value
}

/** Writes to a pipe whose reader may be slower. */
function send(frame: Frame): void {
  for (const bytes of frameBytes(frame)) {
    for (let sent = 0; sent < bytes.length;) {
      try {
        sent += writeSync(OUTPUT, bytes, sent)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
      }
    }
  }
}
