// A process of its own: reads a file that a stranger sent, by readers without GDAL. It has no network, writes nowhere, and
// can be killed at any moment. It takes two lines of JSON, what to open and which layers, and answers by frames.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { TerraneError, toPlainError } from '@terrane/core/errors'
import { conversionFailed } from '../errors.ts'
import type { FeatureReader } from '../feature-stream.ts'
import { RowPacker } from '../row-packer.ts'
import { openReader } from './open-reader.ts'
import { frameBytes, type Frame, type LayerRequest, type ReadRequest } from './protocol.ts'

const OUTPUT = 1
const RETRY_MS = 1

try {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const request = JSON.parse(await lineOf(lines)) as ReadRequest
  const reader = await openReader(request)
  send({ kind: 'layers', layers: reader.layers, warnings: reader.takeWarnings() })
  await answer(reader, JSON.parse(await lineOf(lines)) as LayerRequest[])
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

async function answer(reader: FeatureReader, requests: readonly LayerRequest[]): Promise<void> {
  const packers = requests.map(
    ({ layer, plan }) =>
      plan && new RowPacker(plan, ({ bytes, ...pack }) => send({ kind: 'rows', layer, ...pack }, bytes)),
  )
  for (const [i, { layer }] of requests.entries()) {
    const packer = packers[i]
    let isCut = false
    for await (const batch of reader.read(layer)) {
      if (!packer) send({ kind: 'batch', layer, batch })
      else if (!packer.isComplete) packer.add(batch)
      else if (packers.every((one) => one?.isComplete)) {
        isCut = true
        break
      }
    }
    packer?.flush()
    const warnings = reader.takeWarnings()
    // Where it was cut off they may be about rows that nobody wants.
    send({ kind: 'end', layer, warnings: isCut ? [] : warnings, unkept: packer?.warnings.take() ?? [] })
  }
}

/** Writes to a pipe whose reader may be slower. */
function send(frame: Frame, payload?: Uint8Array): void {
  for (const bytes of frameBytes(frame, payload)) {
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
