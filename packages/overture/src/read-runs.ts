import type { OvertureColumn } from './columns.ts'
import type { DecodedRows, DecodeRequest } from './decode-group.ts'
import type { DecodeThread } from './decode-thread.ts'
import type { Run } from './plan.ts'

/** Concurrent range reads while earlier ones are decoded. */
const READS_AHEAD = 3

/** Options for decoding rows. */
export interface DecodeOptions {
  readonly columns: readonly OvertureColumn[]
  /** Families whose geometries become collections. */
  readonly multi: DecodeRequest['multi']
}

/** The rows of one row group. */
export interface GroupRows {
  readonly rows: readonly DecodedRows[]
  /** The run whose last group it is; null while it has others. */
  readonly finished: Run | null
}

/**
 * Reads runs of row groups in their order, some of them ahead, and decodes them on the thread.
 *
 * @throws PARQUET_INVALID, RANGES_UNSUPPORTED, and what the fetch throws
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { readAoi } from '@terrane/core'
 * import { DecodeThread, readRuns } from '@terrane/overture'
 *
 * const ring = [[9, 47], [9.1, 47], [9.1, 47.1], [9, 47]]
 * const aoi = readAoi({ type: 'Polygon', coordinates: [ring] }, { maxVertices: 100, maxAreaKm2: 1000 })
 * await using thread = new DecodeThread(aoi)
 * let groups = 0
 * for await (const _ of readRuns([], thread, { columns: [], multi: ['polygon'] })) groups++
 * assert.equal(groups, 0)
 * ```
 */
export async function* readRuns(
  runs: readonly Run[],
  thread: DecodeThread,
  { columns, multi }: DecodeOptions,
): AsyncGenerator<GroupRows> {
  for await (const { run, bytes } of readAhead(runs)) {
    const { file, footer } = run.file
    const name = new URL(file.url).pathname.split('/').at(-1)!
    for (const [i, place] of run.groups.entries()) {
      const request = {
        url: file.url,
        footer,
        fileSize: file.size,
        place,
        bytes: bytes.slice(place.start - run.start, place.end - run.start),
        columns,
        multi,
      }
      yield { rows: await thread.decode(request, name), finished: i === run.groups.length - 1 ? run : null }
    }
  }
}

/** The bytes of runs in order, some of them read ahead. */
async function* readAhead(runs: readonly Run[]): AsyncGenerator<{ run: Run; bytes: Uint8Array<ArrayBuffer> }> {
  const ahead: Promise<Uint8Array<ArrayBuffer>>[] = []
  try {
    for (const [i, run] of runs.entries()) {
      for (let next = i + ahead.length; next < runs.length && ahead.length < READS_AHEAD; next++) {
        const { file, start, end } = runs[next]!
        const reading = file.file.read(start, end)
        // Thrown where it is awaited; until then it must not count as unhandled.
        reading.catch(() => {})
        ahead.push(reading)
      }
      yield { run, bytes: await ahead.shift()! }
    }
  } finally {
    await Promise.allSettled(ahead)
  }
}
