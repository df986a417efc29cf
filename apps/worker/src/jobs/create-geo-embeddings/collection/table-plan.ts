import { join } from 'node:path'
import { mkdir, rm } from 'node:fs/promises'
import type { CreateGeoEmbeddings } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import type { Queryable } from '@terrane/database'
import type { Appendable } from '@terrane/database/collections'
import type { ModelManifest } from '@terrane/embeddings'
import type { InspectedRaster } from '@terrane/tiling/raster'
import type { JobContext } from '../../task.ts'
import type { GeoEmbeddingsDeps } from '../create-geo-embeddings.ts'
import { crsOf } from '../describe.ts'
import { noSourceDone, notComparable } from '../errors.ts'
import { readRequest } from '../request.ts'
import { readRaster, takenOf, type Reading } from '../run.ts'
import { openSource } from '../source.ts'
import { takeStretch, whyOther, type StoredStretch, type TakenStretch } from '../stretch.ts'
import type { Entry } from './entries.ts'

/** How every source of a table is seen. It travels with the shards. */
export interface TablePlan {
  readonly taken: TakenStretch
  readonly stretch: StoredStretch
  readonly bands: readonly number[]
  readonly crs: string
}

/** Rasters of the beginning that a stretch by percentiles is made of. */
const STRETCH_SOURCES = 4
/** Rasters that are tried for it. */
const STRETCH_TRIES = 20

/** The plan of a table that is there. */
export async function planOfTable(
  database: Queryable,
  body: CreateGeoEmbeddings,
  table: Appendable,
  manifest: ModelManifest,
): Promise<TablePlan> {
  const wanted = { channels: manifest.input.bands.length, unit: manifest.input.unit ?? 'scaled' }
  const taken = await takeStretch(database, body.tableName, wanted)
  const { crs = '' } = table.metadata as { readonly crs?: string }
  return { taken, stretch: table.scale as StoredStretch, bands: table.bands ?? [], crs }
}

/**
 * The plan of a new table, by its first rasters: as the request or the sensor's profile says, else by the percentiles of
 * several of them together.
 *
 * @throws NO_SOURCE_DONE when none of those that were tried can be read
 */
export async function planByFirst(
  deps: GeoEmbeddingsDeps,
  body: CreateGeoEmbeddings,
  entries: readonly Entry[],
  manifest: ModelManifest,
  context: JobContext,
): Promise<TablePlan> {
  const readings: Reading[] = []
  const failures: { name: string; code: string; message: string }[] = []
  for (const { name, body: alone } of entries.slice(0, STRETCH_TRIES)) {
    context.signal.throwIfAborted()
    context.progress({
      phase: 'plan',
      message: 'looking at the first rasters',
      done: readings.length,
      total: null,
      unit: '',
    })
    try {
      readings.push(await look(deps, body, alone, manifest, context))
    } catch (error) {
      if (!(error instanceof TerraneError) || context.signal.aborted) throw error
      failures.push({ name, code: error.code, message: error.message })
      continue
    }
    if (readings[0]!.scale.origin !== 'percentile' || readings.length === STRETCH_SOURCES) break
  }
  const first = readings[0]
  if (!first) throw noSourceDone({ failures, total: entries.length })
  return planOf(first, readings)
}

async function look(
  deps: GeoEmbeddingsDeps,
  { scale, scaleFrom }: CreateGeoEmbeddings,
  alone: CreateGeoEmbeddings,
  manifest: ModelManifest,
  context: JobContext,
): Promise<Reading> {
  const request = readRequest({ ...alone, ...(scale && { scale }), ...(scaleFrom && { scaleFrom }) })
  const { signal } = context
  const taken = await takenOf(context.project.database, request, manifest)
  const workdir = join(context.workdir, 'look')
  await mkdir(workdir)
  try {
    const { path } = await openSource(request.source, { ...context, workdir }, deps)
    return await readRaster(deps, request, manifest, { path, taken, signal })
  } finally {
    await rm(workdir, { recursive: true, force: true })
  }
}

function planOf(first: Reading, all: readonly Reading[]): TablePlan {
  const { inspected, stretch } = first
  const together = all.filter((reading) => whyOther(planAlone(first).taken, reading.inspected) === null)
  const min = stretch.min.map((_, i) => Math.min(...together.map((reading) => reading.stretch.min[i]!)))
  const max = stretch.max.map((_, i) => Math.max(...together.map((reading) => reading.stretch.max[i]!)))
  return planAlone({ inspected, stretch: { ...stretch, min, max } })
}

function planAlone({ inspected, stretch: read }: Pick<Reading, 'inspected' | 'stretch'>): TablePlan {
  // Each raster has a share of its own.
  const { clamped: _, ...stretch } = read
  const { profile, channels, min, max, origin, values = null } = stretch
  const { bands } = inspected
  const ranges = min.map((low, i) => [low, max[i]!] as const)
  const taken = { ranges, profile, channels, bands, values, isExplicit: origin === 'explicit' }
  return { taken, stretch, bands, crs: crsOf(inspected) }
}

/** @throws NOT_COMPARABLE when the values of a raster are not what the table's are */
export function checkSource({ taken }: TablePlan, name: string, inspected: InspectedRaster): void {
  const why = whyOther(taken, inspected)
  if (why !== null) throw notComparable({ name, why })
}
