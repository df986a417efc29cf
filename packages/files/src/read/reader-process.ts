import { boundChild } from '../bound-child.ts'
import { EngineProcess } from '../engine.ts'
import { readerStuck, readerTooLarge } from '../errors.ts'
import { programPath } from '../program-path.ts'
import { ProcessWatch, type Excess } from './process-watch.ts'
import type { StartReader } from './reading.ts'

const PROGRAM = new URL('./read.worker.ts', import.meta.url)
/** Maximum heap of the script in MiB: one feature of some hundred megabytes must fit. */
const HEAP_MB = 2048
/** Maximum memory of the whole process in MiB, including memory that libraries allocate outside the heap. */
const PROCESS_MB = HEAP_MB + 1024
/** Memory that the reader of a small file may use, in bytes, and additional bytes for each byte of a file. */
const HELD_BYTES = 448 * 1024 * 1024
const HELD_PER_BYTE = 128
/** CPU seconds that a reader may use between two frames, and bytes of its file that allow a second more. */
const STUCK_SECONDS = 45
const BYTES_PER_SECOND = 2 * 1024 * 1024

/** Program and time limit of reading processes. */
export interface ReaderProcessOptions {
  /** A program that calls `serveProcess` with an encoder of its own; default: the built-in one without an encoder. */
  readonly program?: URL
  /** CPU time in seconds that may pass between two frames, more for a large file. Default: 45. */
  readonly stuckSeconds?: number
}

/**
 * Makes a starter of reading processes. Each may only read files: no writes, no network, no processes, no environment.
 * The system limits its memory, and it is killed when it computes without progress or uses more memory than its file
 * may need.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { openFile, readerProcesses } from '@terrane/files'
 *
 * const startReader = readerProcesses({ stuckSeconds: 5 })
 * await assert.rejects(openFile(import.meta.filename, { startReader }), { code: 'FORMAT_UNKNOWN' })
 * ```
 */
export function readerProcesses({
  program = PROGRAM,
  stuckSeconds = STUCK_SECONDS,
}: ReaderProcessOptions = {}): StartReader {
  return (workdir, signal) => {
    const rights = ['--permission', '--allow-fs-read=*', '--disable-warning=ExperimentalWarning']
    const args = [...rights, `--max-old-space-size=${HEAP_MB}`, programPath(program, workdir)]
    const bounded = boundChild(process.execPath, args, PROCESS_MB)
    const process_ = new EngineProcess(...bounded, { cwd: workdir, env: {}, events: true }, signal)
    const { stdin, stdout, pid } = process_.child
    // A process that ended early reports the reason itself.
    stdin!.on('error', () => {})
    const watch =
      pid === undefined ? null : new ProcessWatch(pid, { seconds: stuckSeconds, bytes: HELD_BYTES }, onExcess)
    const stopWatch = () => watch?.[Symbol.dispose]()
    process_.ended.then(stopWatch, stopWatch)
    return {
      output: progressing(stdout as AsyncIterable<Buffer>),
      write: (line) => void stdin!.write(`${line}\n`),
      expect: (bytes) => watch?.allow({ seconds: bytes / BYTES_PER_SECOND, bytes: bytes * HELD_PER_BYTE }),
      ended: process_.ended,
      complaint: () => process_.complaint,
      abandon: () => process_.abandon(),
    }

    function onExcess(excess: Excess, seconds: number): void {
      process_.end(excess === 'bytes' ? readerTooLarge() : readerStuck({ seconds }))
    }

    async function* progressing(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        watch?.progressed()
        yield chunk
      }
    }
  }
}

/** Starts the built-in reading process. */
export const startReaderProcess = readerProcesses()
