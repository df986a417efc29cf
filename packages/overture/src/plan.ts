import type { Aoi } from '@terrane/core'
import { type GroupPlace, groupsTouching, openParquet, type ParquetFile } from './parquet-footer.ts'
import type { RangeSource } from './range-fetch.ts'
import { filesTouching, type Release } from './releases.ts'

/** Footers that are read at a time. */
const FOOTERS_AT_ONCE = 6
/** Maximum bytes of one read of neighbouring row groups, and of a gap between two of them. */
const RUN_BYTES = 16 << 20
const GAP_BYTES = 1 << 14

/** Row groups that are read with one range request. */
export interface Run {
  readonly file: ParquetFile
  readonly groups: readonly GroupPlace[]
  readonly start: number
  readonly end: number
}

/** Files and row groups to read of one type. */
export interface TypePlan {
  readonly type: string
  /** Every file that was opened: at least one, so that the columns are known. */
  readonly files: readonly ParquetFile[]
  readonly runs: readonly Run[]
}

/**
 * Opens the files that may hold features of the area and chooses their row groups.
 *
 * @example
 * ```ts
 * import assert from 'node:assert/strict'
 * import { readAoi } from '@terrane/core'
 * import { planType, webFetch } from '@terrane/overture'
 *
 * const ring = [[9, 47], [9.1, 47], [9.1, 47.1], [9, 47]]
 * const aoi = readAoi({ type: 'Polygon', coordinates: [ring] }, { maxVertices: 100, maxAreaKm2: 1000 })
 * const source = { fetch: webFetch, traffic: { requests: 0, bytes: 0 }, signal: AbortSignal.timeout(1000) }
 * const { runs } = await planType(source, { release: '2026-08-19.0', files: new Map() }, 'place', aoi)
 * assert.deepEqual(runs, [])
 * ```
 */
export async function planType(source: RangeSource, release: Release, type: string, aoi: Aoi): Promise<TypePlan> {
  const all = release.files.get(type) ?? []
  const hit = filesTouching(all, aoi)
  const wanted = hit.length > 0 ? hit : all.slice(0, 1)
  const files: ParquetFile[] = []
  for (let from = 0; from < wanted.length; from += FOOTERS_AT_ONCE) {
    const batch = wanted.slice(from, from + FOOTERS_AT_ONCE)
    files.push(...(await Promise.all(batch.map(({ url }) => openParquet(source, url)))))
  }
  return { type, files, runs: files.flatMap((file) => runsOf(file, groupsTouching(file, aoi))) }
}

function runsOf(file: ParquetFile, groups: readonly GroupPlace[]): Run[] {
  const runs: Run[] = []
  for (const group of groups) {
    const last = runs.at(-1)
    const joins =
      last && group.start - last.end <= GAP_BYTES && group.start >= last.end && group.end - last.start <= RUN_BYTES
    if (joins) runs[runs.length - 1] = { ...last, groups: [...last.groups, group], end: group.end }
    else runs.push({ file, groups: [group], start: group.start, end: group.end })
  }
  return runs
}
