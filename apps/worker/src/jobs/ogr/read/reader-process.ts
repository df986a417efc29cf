import { fileURLToPath } from 'node:url'
import { EngineProcess } from '../engine.ts'
import type { StartReader } from './reading.ts'

const SCRIPT = fileURLToPath(new URL('./read.worker.ts', import.meta.url))
/** Most memory of the script: one feature of some hundred megabytes has to fit. */
const HEAP_MB = 2048

/** Starts a process that may read files and nothing else: no writes, no network, no processes, no environment. */
export const startReaderProcess: StartReader = (workdir, signal) => {
  const rights = ['--permission', '--allow-fs-read=*', '--disable-warning=ExperimentalWarning']
  const args = [...rights, `--max-old-space-size=${HEAP_MB}`, SCRIPT]
  const process_ = new EngineProcess(process.execPath, args, { cwd: workdir, env: {}, events: true }, signal)
  const { stdin, stdout } = process_.child
  // A process that ended early says why itself.
  stdin!.on('error', () => {})
  return {
    output: stdout as AsyncIterable<Buffer>,
    write: (line) => void stdin!.write(`${line}\n`),
    ended: process_.ended,
    complaint: () => process_.complaint,
    abandon: () => process_.abandon(),
  }
}
