import { createInterface } from 'node:readline'
import type { MakeEncoder } from '../feature-stream.ts'
import { writeAll } from '../write-all.ts'
import { frameBytes } from './protocol.ts'
import { serveReading } from './serve-reading.ts'

const OUTPUT = 1

/**
 * The reading process: requests come on standard input, frames go to standard output. It ends with the process.
 *
 * @param makeEncoder encodes the layers that come with a plan
 */
export async function serveProcess(makeEncoder?: MakeEncoder): Promise<never> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  await serveReading(
    lines,
    (frame, payload) => {
      for (const bytes of frameBytes(frame, payload)) writeAll(OUTPUT, bytes)
    },
    makeEncoder,
  )
  process.exit(0)
}
