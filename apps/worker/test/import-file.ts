import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { JobWarning } from '@terrane/contracts'
import { uuidv7 } from '@terrane/core'
import type { Database } from '@terrane/database'
import { beginRun } from '@terrane/database/staging'
import { createGuardedFetch, createLogger } from '@terrane/service'
import { NO_CHECKPOINT } from '../src/jobs/task.ts'
import { ogr2ogrImport, type OgrSettings } from '../src/jobs/ogr2ogr-import.ts'
import type { JobContext } from '../src/jobs/task.ts'
import { RowPacker, type RowPlan } from '../src/jobs/file-import/row-packer.ts'
import { gdalHere, readersHere } from '@terrane/files/testing'

/** Reads and converts in the process of the test. */
export const READ_HERE = {
  engine: gdalHere,
  startReader: readersHere((plan, send) => new RowPacker(plan as RowPlan, send)),
}

/** A table that an import made, as its result describes it. */
export interface MadeTable {
  readonly table: string
  readonly layer: string
  readonly rows: number
  readonly srid: number | null
  readonly geometry_type: string | null
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

export interface ImportResult {
  readonly tables: readonly MadeTable[]
  readonly warnings: readonly JobWarning[]
}

/** A file's bytes and how many there are. */
export interface SourceFile {
  readonly size: number
  open(): Readable
}

let made = 0

/**
 * Runs the task on a file by itself, without a queue; returns its result, or throws what it fails with.
 *
 * @param readers what reads and converts the file
 */
export async function importFile(
  database: Database,
  file: Buffer | SourceFile,
  options: object = {},
  signal: AbortSignal = new AbortController().signal,
  readers: Pick<OgrSettings, 'engine' | 'startReader'> = READ_HERE,
): Promise<ImportResult> {
  const source = Buffer.isBuffer(file) ? { size: file.length, open: () => Readable.from([file]) } : file
  const workdir = await mkdtemp(join(tmpdir(), 'terrane-import-'))
  const store = { get: async () => ({ info: { size: source.size }, body: source.open() }) }
  const context: JobContext = {
    run: await beginRun(database, uuidv7()),
    attempt: 1,
    project: { ref: 'files', database, store: store as never },
    signal,
    logger: createLogger({ name: 'files', level: 'silent' }),
    fetch: createGuardedFetch(),
    workdir,
    checkpoint: NO_CHECKPOINT,
    progress: () => {},
  }
  const task = ogr2ogrImport({ ...readers, maxBytes: 2 ** 30 })
  const storagePath = { bucket: 'files', path: 'file' }
  try {
    const result = await task.run({ storagePath, tableName: `imported_${++made}`, ...options }, context)
    return result as unknown as ImportResult
  } finally {
    await rm(workdir, { recursive: true, force: true })
  }
}
