// A process of its own that reads one mutated file after the other by the code of the product, without a process for each,
// and tells what became of each. Its parent ends it when a file takes too long.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '@terrane/core'
import { TerraneError, toPlainError } from '@terrane/core/errors'
import { openFile } from '../../src/index.ts'
import { gdalHere } from '../../src/testing/gdal-here.ts'
import { readersHere } from '../../src/testing/read-here.ts'
import { mutated } from './mutate.ts'
import type { Original } from './originals.ts'

/** Files to read, by their seeds. */
export interface Task {
  readonly original: Original
  readonly seeds: readonly number[]
}

/** Result of reading a file. `answer` is all that a caller gets. */
export interface Outcome {
  readonly seed: number
  readonly code: string
  readonly answer: string
}

process.once('message', (task: Task) => {
  void readAll(task).then(() => process.exit(0))
})

async function readAll({ original, seeds }: Task): Promise<void> {
  for (const seed of seeds) {
    const workdir = await mkdtemp(join(tmpdir(), 'terrane-mutated-'))
    const bytes = mutated(original, seededRandom(seed))
    const outcome = await read(bytes, workdir)
    await rm(workdir, { recursive: true, force: true })
    process.send!({ seed, ...outcome } satisfies Outcome)
  }
}

async function read(bytes: Buffer, workdir: string): Promise<Omit<Outcome, 'seed'>> {
  try {
    await using file = await openFile((path) => writeFile(path, bytes), {
      workdir,
      engine: gdalHere,
      startReader: readersHere(),
    })
    let rows = 0
    for await (const { batch } of file.read()) rows += batch.rows
    const names = file.layers.map(({ name, fields }) => [name, fields.map((field) => field.name)])
    // A result without rows and warnings hides a loss.
    const isSilent = rows === 0 && file.warnings.length === 0
    const code = rows > 0 ? 'READ' : isSilent ? 'SILENT' : 'EMPTY'
    return { code, answer: JSON.stringify([names, file.warnings]) }
  } catch (error) {
    if (!(error instanceof TerraneError))
      return { code: `thrown ${String(error)}`, answer: String((error as Error).stack) }
    return { code: error.code, answer: JSON.stringify(toPlainError(error)) }
  }
}
