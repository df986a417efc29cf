import { TerraneError, toPlainError } from '@terrane/core/errors'
import { isOutOfMemory } from '../engine.ts'
import { conversionFailed, readerTooLarge } from '../errors.ts'
import type { FeatureReader } from '../feature-stream.ts'
import { RowPacker } from '../row-packer.ts'
import { openReader } from './open-reader.ts'
import type { Frame, LayerRequest, ReadRequest } from './protocol.ts'

/** Sends a frame, and bytes that follow it. */
type SendFrame = (frame: Frame, payload?: Uint8Array) => void

/**
 * Reads a data set: takes two lines of JSON, a `ReadRequest` and the `LayerRequest`s, and answers with frames. It ends
 * early where there are no more lines.
 */
export async function serveReading(lines: AsyncIterator<string>, send: SendFrame): Promise<void> {
  try {
    const request = await lines.next()
    if (request.done === true) return
    const reader = await openReader(JSON.parse(request.value) as ReadRequest)
    send({ kind: 'layers', layers: reader.layers, warnings: reader.takeWarnings() })
    const layers = await lines.next()
    if (layers.done === true) return
    await answer(reader, JSON.parse(layers.value) as LayerRequest[], send)
  } catch (error) {
    send({ kind: 'error', error: toPlainError(shownOf(error)) })
  }
}

function shownOf(error: unknown): TerraneError {
  if (error instanceof TerraneError) return error
  const { message } = error as Error
  return isOutOfMemory(message) ? readerTooLarge() : conversionFailed({ reason: message })
}

async function answer(reader: FeatureReader, requests: readonly LayerRequest[], send: SendFrame): Promise<void> {
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
