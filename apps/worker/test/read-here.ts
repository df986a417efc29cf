import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { frameBytes } from '../src/jobs/ogr/read/protocol.ts'
import type { StartReader } from '../src/jobs/ogr/read/reading.ts'
import { serveReading } from '../src/jobs/ogr/read/serve-reading.ts'

/** Reads in this process, through the same requests and frames: for tests of values, of which each would start a process. */
export const readHere: StartReader = (_workdir, signal) => {
  signal.throwIfAborted()
  const input = new PassThrough()
  const output = new PassThrough()
  const served = serveReading(createInterface({ input })[Symbol.asyncIterator](), (frame, payload) => {
    for (const bytes of frameBytes(frame, payload)) if (output.writable) output.write(Buffer.from(bytes))
  }).finally(() => output.end())
  const ended = served.then(() => signal.throwIfAborted())
  ended.catch(() => {})
  const close = () => {
    input.end()
    output.end()
  }
  signal.addEventListener('abort', close)
  return {
    output,
    write: (line) => void input.write(`${line}\n`),
    expect: () => {},
    ended,
    complaint: () => 'the reader gave no reason',
    abandon: async () => {
      signal.removeEventListener('abort', close)
      close()
      output.resume()
    },
  }
}
