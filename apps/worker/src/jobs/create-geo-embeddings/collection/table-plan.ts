import { join } from 'node:path'
import { mkdir, rm } from 'node:fs/promises'
import type { CreateGeoEmbeddings } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import { findSources, type Appendable, type Queryable } from '@terrane/database'
import type { ModelManifest } from '@terrane/embeddings'
import type { InspectedRaster } from '@terrane/tiling/raster'
import type { JobContext } from '../../task.ts'
import type { GeoEmbeddingsDeps } from '../create-geo-embeddings.ts'
import { crsOf } from '../describe.ts'
import { noSourceDone, notComparable } from '../errors.ts'
import { readRequest } from '../request.ts'
import { readRaster, type Reading } from '../run.ts'
import { openSource } from '../source.ts'
import { takeStretch, type StoredStretch, type TakenStretch } from '../stretch.ts'
import type { Entry } from './entries.ts'

/** How every source of a table is seen. It travels with the shards. */
export interface TablePlan {
  readonly taken: TakenStretch
  readonly stretch: StoredStretch
  readonly bands: readonly number[]
  readonly crs: string
  /** Type of the samples where values are taken as they are stored; null where a profile or scale tags say what they are. */
  readonly storedAs: string | null
  /** Unit of the sensor's values; null without a profile. */
  readonly unit: string | null
}

/** Rasters of the beginning that a stretch by percentiles is made of. */
const STRETCH_SOURCES = 4
/** Rasters that are tried for it. */
const STRETCH_TRIES = 20

/** The plan of a table that is there. */
export async function planOfTable(
  database: Queryable & Parameters<typeof takeStretch>[0],
  body: CreateGeoEmbeddings,
  table: Appendable,
  manifest: ModelManifest,
): Promise<TablePlan> {
  const wanted = { channels: manifest.input.bands.length, unit: manifest.input.unit ?? 'scaled' }
  const taken = await takeStretch(database, body.tableName, wanted)
  const stretch = table.scale as StoredStretch
  const metadata = table.metadata as {
    readonly crs?: string
    readonly stored_as?: string | null
    readonly unit?: string
  }
  const first = (await findSources(database, body.tableName)).find(({ dataType }) => dataType !== null)
  return {
    taken,
    stretch,
    bands: table.bands ?? [],
    crs: metadata.crs ?? '',
    storedAs: metadata.stored_as ?? (isRaw(stretch) ? (first?.dataType ?? null) : null),
    unit: metadata.unit ?? null,
  }
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
  const wanted = { channels: manifest.input.bands.length, unit: manifest.input.unit ?? 'scaled' }
  const { signal } = context
  const taken = scaleFrom ? await takeStretch(context.project.database, scaleFrom.table, wanted) : null
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
  const together = all.filter((reading) => whyNot(planAlone(first), reading.inspected) === null)
  const min = stretch.min.map((_, i) => Math.min(...together.map((reading) => reading.stretch.min[i]!)))
  const max = stretch.max.map((_, i) => Math.max(...together.map((reading) => reading.stretch.max[i]!)))
  const { profile, channels } = stretch
  const ranges = min.map((low, i) => [low, max[i]!] as const)
  const taken = { ranges, profile, channels, bands: inspected.bands }
  return { ...planAlone(first), taken, stretch: { ...stretch, min, max } }
}

function planAlone({ inspected, stretch }: Reading): TablePlan {
  const { profile, channels, min, max } = stretch
  return {
    taken: { ranges: min.map((low, i) => [low, max[i]!] as const), profile, channels, bands: inspected.bands },
    stretch,
    bands: inspected.bands,
    crs: crsOf(inspected),
    storedAs: isRaw(stretch) ? inspected.raster.sampleType : null,
    unit: inspected.profile?.profile.unit ?? null,
  }
}

/** @throws NOT_COMPARABLE when the values of a raster are not what the table's are */
export function checkSource(plan: TablePlan, name: string, inspected: InspectedRaster): void {
  const why = whyNot(plan, inspected)
  if (why !== null) throw notComparable({ name, why })
}

function whyNot(plan: TablePlan, { channels, profile, raster, bands }: InspectedRaster): string | null {
  const { channels: wanted } = plan.stretch
  if (wanted !== null && channels !== null && wanted.join() !== channels.join()) {
    return `its channels are ${channels.join(', ')}, those of the table ${wanted.join(', ')}`
  }
  const unit = profile?.profile.unit ?? null
  if (plan.unit !== null && unit !== null && plan.unit !== unit)
    return `its values are ${unit}, those of the table ${plan.unit}`
  if (plan.storedAs === null || plan.storedAs === raster.sampleType) return null
  const raw = bands.every((band) => raster.bands[band]?.scale === 1 && raster.bands[band]?.offset === 0)
  return raw ? `it has ${raster.sampleType} values without a scale, the table was made of ${plan.storedAs}` : null
}

/** Whether values are taken as they are stored, so that their type says how large they are. */
function isRaw({ profile, band_scale: scale = [], band_offset: offset = [], origin }: Partial<StoredStretch>): boolean {
  const asStored = scale.every((one) => one === 1) && offset.every((one) => one === 0)
  return profile === null && asStored && origin !== 'explicit'
}
