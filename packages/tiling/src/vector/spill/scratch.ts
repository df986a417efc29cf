import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { scratchFull } from '../errors.ts'

/** A temporary file with reads and writes at any position; it is deleted when closed. */
export interface ScratchFile {
  /** Writes all of `bytes` at `position`. */
  write(bytes: Uint8Array, position: number): void
  /** Fills all of `into` from `position`. */
  read(into: Uint8Array, position: number): void
  close(): void
}

/** Makes temporary files. */
export type OpenScratch = () => ScratchFile

/**
 * Temporary files in `directory`. On POSIX a file is unlinked right after it is opened, so that even a killed process
 * leaves no file.
 *
 * @throws SCRATCH_FULL from `write` when the disk has no space left
 */
export function scratchIn(directory: string): OpenScratch {
  return () => {
    const path = join(directory, `${randomUUID()}.tmp`)
    const file = openSync(path, 'wx+', 0o600)
    const named = process.platform === 'win32'
    if (!named) unlinkSync(path)
    return {
      write: (bytes, position) => writeFully(file, bytes, position),
      read: (into, position) => readFully(file, into, position),
      close: () => {
        closeSync(file)
        if (named) unlinkSync(path)
      },
    }
  }
}

function writeFully(file: number, bytes: Uint8Array, position: number): void {
  try {
    for (let done = 0; done < bytes.length;) {
      done += writeSync(file, bytes, done, bytes.length - done, position + done)
    }
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    throw code === 'ENOSPC' || code === 'EDQUOT' ? scratchFull(undefined, { cause }) : cause
  }
}

function readFully(file: number, into: Uint8Array, position: number): void {
  for (let done = 0; done < into.length;) {
    const count = readSync(file, into, done, into.length - done, position + done)
    if (count === 0) throw new Error(`a temporary file ends before byte ${position + into.length}`)
    done += count
  }
}
