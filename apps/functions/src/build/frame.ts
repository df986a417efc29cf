import type { Readable } from 'node:stream'

/** A message between host and build process: a JSON header and a binary payload. */
export interface Frame {
  readonly header: unknown
  readonly payload: Uint8Array
}

const HEAD_BYTES = 8

/** A frame as it travels: the two lengths in four bytes each (little-endian), the header as JSON, the payload. */
export function encodeFrame({ header, payload }: Frame): Buffer {
  const json = Buffer.from(JSON.stringify(header))
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(json.length, 0)
  head.writeUInt32LE(payload.length, 4)
  return Buffer.concat([head, json, payload])
}

/**
 * The frames of a stream, one after another.
 *
 * @param maxBytes of a whole frame: a larger announced size is refused before the frame is read
 */
export async function* readFrames(stream: Readable, maxBytes: number): AsyncGenerator<Frame> {
  let chunks: Buffer[] = []
  let held = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    held += chunk.length
    while (held >= HEAD_BYTES) {
      const first = chunks.length === 1 || chunks[0]!.length >= HEAD_BYTES ? chunks[0]! : Buffer.concat(chunks)
      const jsonBytes = first.readUInt32LE(0)
      const total = HEAD_BYTES + jsonBytes + first.readUInt32LE(4)
      if (total > maxBytes) throw new Error(`a message of ${total} bytes, more than ${maxBytes}`)
      if (held < total) break
      const whole = Buffer.concat(chunks)
      const json = whole.toString('utf8', HEAD_BYTES, HEAD_BYTES + jsonBytes)
      yield { header: JSON.parse(json) as unknown, payload: whole.subarray(HEAD_BYTES + jsonBytes, total) }
      chunks = [whole.subarray(total)]
      held = whole.length - total
    }
  }
}
