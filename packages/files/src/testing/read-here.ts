import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { frameBytes, type Frame } from '../read/protocol.ts'
import type { Reader, StartReader } from '../read/reading.ts'
import type { MakeEncoder } from '../feature-stream.ts'
import { serveReading } from '../read/serve-reading.ts'

/**
 * Starts readers in this process, through the same requests and frames: for tests of values, in which a process for
 * each file would take too long.
 *
 * @param makeEncoder encodes the layers that come with a plan
 */
export function readersHere(makeEncoder?: MakeEncoder): StartReader {
  return (_workdir, signal) => readHere(signal, makeEncoder)
}

function readHere(signal: AbortSignal, makeEncoder?: MakeEncoder): Reader {
  signal.throwIfAborted()
  const input = new PassThrough()
  const output = new PassThrough()
  const send = (frame: Frame, payload?: Uint8Array) => {
    for (const bytes of frameBytes(frame, payload)) if (output.writable) output.write(Buffer.from(bytes))
  }
  const lines = createInterface({ input })[Symbol.asyncIterator]()
  const served = serveReading(lines, send, makeEncoder).finally(() => output.end())
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
