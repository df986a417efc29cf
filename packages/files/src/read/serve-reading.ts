import { TerraneError, toPlainError } from '@terrane/core/errors'
import { isOutOfMemory } from '../engine.ts'
import { conversionFailed, readerTooLarge } from '../errors.ts'
import type { FeatureReader, MakeEncoder, RowEncoder } from '../feature-stream.ts'
import { openReader } from './open-reader.ts'
import type { Frame, LayerRequest, ReadRequest } from './protocol.ts'

/** Sends a frame, and bytes that follow it. */
type SendFrame = (frame: Frame, payload?: Uint8Array) => void

/**
 * Reads a data set: takes two lines of JSON, a `ReadRequest` and the `LayerRequest`s, and answers with frames. It ends
 * early where there are no more lines.
 *
 * @param makeEncoder encodes the layers that come with a plan
 */
export async function serveReading(
  lines: AsyncIterator<string>,
  send: SendFrame,
  makeEncoder?: MakeEncoder,
): Promise<void> {
  try {
    const request = await lines.next()
    if (request.done === true) return
    const reader = await openReader(JSON.parse(request.value) as ReadRequest)
    send({ kind: 'layers', layers: reader.layers, warnings: reader.takeWarnings() })
    const layers = await lines.next()
    if (layers.done === true) return
    const requests = JSON.parse(layers.value) as LayerRequest[]
    const encoders = requests.map(({ layer, plan }) =>
      plan === undefined ? undefined : makeEncoder?.(plan, (note, bytes) => send({ kind: 'rows', layer, note }, bytes)),
    )
    await answer(reader, requests, encoders, send)
  } catch (error) {
    send({ kind: 'error', error: toPlainError(shownOf(error)) })
  }
}

function shownOf(error: unknown): TerraneError {
  if (error instanceof TerraneError) return error
  const { message, code, syscall } = error as NodeJS.ErrnoException
  if (isOutOfMemory(message)) return readerTooLarge()
  // The file has a value that the readers do not expect; the runtime's message about it does not help a caller.
  const isUnexpected = error instanceof TypeError || error instanceof RangeError
  if (isUnexpected) return conversionFailed({ reason: 'its content does not follow its format' })
  // Messages of the system contain paths.
  return conversionFailed({ reason: syscall === undefined ? message : `reading it failed with ${code}` })
}

async function answer(
  reader: FeatureReader,
  requests: readonly LayerRequest[],
  encoders: readonly (RowEncoder | undefined)[],
  send: SendFrame,
): Promise<void> {
  for (const [i, { layer }] of requests.entries()) {
    const encoder = encoders[i]
    let isCut = false
    for await (const batch of reader.read(layer)) {
      if (!encoder) send({ kind: 'batch', layer, batch })
      else if (!encoder.isComplete) encoder.add(batch)
      else if (encoders.every((one) => one?.isComplete)) {
        isCut = true
        break
      }
    }
    encoder?.flush()
    const warnings = reader.takeWarnings()
    // Warnings of a reading that was cut may concern rows that were not wanted.
    send({ kind: 'end', layer, warnings: isCut ? [] : warnings, unkept: encoder?.warnings.take() ?? [] })
  }
}
