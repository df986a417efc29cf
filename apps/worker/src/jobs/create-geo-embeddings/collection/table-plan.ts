import { join } from 'node:path'
import { mkdir, rm } from 'node:fs/promises'
import type { CreateGeoEmbeddings } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import type { Queryable } from '@terrane/database'
import type { Appendable } from '@terrane/database/collections'
import type { ModelManifest } from '@terrane/embeddings'
import type { InspectedRaster } from '@terrane/tiling/raster'
import type { JobContext } from '../../task.ts'
import type { GeoEmbeddingsDeps } from '../deps.ts'
import { groundSize } from '../context.ts'
import { crsOf } from '../describe.ts'
import { noSourceDone, notComparable } from '../errors.ts'
import { readRaster, type RasterInput } from '../raster-input.ts'
import { readRequest } from '../request.ts'
import { openSource } from '../scenes/open-source.ts'
import {
  differenceFrom,
  referenceOfRequest,
  referenceOfTable,
  type ReferenceStretch,
  type StoredStretch,
} from '../stretch.ts'
import type { Entry } from './entries.ts'

/** How every source of a table is read. It is a part of the queued input of shards, so its names must not change. */
export interface TablePlan {
  readonly taken: ReferenceStretch
  readonly stretch: StoredStretch
  readonly bands: readonly number[]
  readonly crs: string
}

/** Dependencies of a plan. */
interface PlanContext {
  readonly deps: GeoEmbeddingsDeps
  readonly manifest: ModelManifest
  readonly context: JobContext
}

/** Number of first rasters from which percentiles for a stretch are computed. */
const STRETCH_SOURCES = 4
/** Number of rasters that are tried for it. */
const STRETCH_TRIES = 20

/** The plan of an existing table. */
export async function planOfTable(
  database: Queryable,
  body: CreateGeoEmbeddings,
  table: Appendable,
  manifest: ModelManifest,
): Promise<TablePlan> {
  const taken = await referenceOfTable(database, body.tableName, manifest)
  const { crs = '' } = table.metadata as { readonly crs?: string }
  return { taken, stretch: table.scale as StoredStretch, bands: table.bands ?? [], crs }
}

/**
 * The plan of a new table, from its first rasters: by the request or the sensor's profile, or else by the percentiles
 * of several of them together.
 *
 * @throws NO_SOURCE_DONE when none of the first rasters can be read
 */
export async function planByFirst(
  body: CreateGeoEmbeddings,
  entries: readonly Entry[],
  plan: PlanContext,
): Promise<TablePlan> {
  const { context } = plan
  const rasters: RasterInput[] = []
  const failures: { name: string; code: string; message: string }[] = []
  for (const { name, body: alone } of entries.slice(0, STRETCH_TRIES)) {
    context.signal.throwIfAborted()
    context.progress({
      phase: 'plan',
      message: 'looking at the first rasters',
      done: rasters.length,
      total: null,
      unit: '',
    })
    try {
      rasters.push(await readAlone(body, alone, plan))
    } catch (error) {
      if (!(error instanceof TerraneError) || context.signal.aborted) throw error
      failures.push({ name, code: error.code, message: error.message })
      continue
    }
    if (rasters[0]!.scale.origin !== 'percentile' || rasters.length === STRETCH_SOURCES) break
  }
  const first = rasters[0]
  if (!first) throw noSourceDone({ failures, total: entries.length })
  return planOf(first, rasters)
}

/** Reads one raster by its own request, with `scale` or `scaleFrom` of the request for the whole table. */
async function readAlone(
  { scale, scaleFrom }: CreateGeoEmbeddings,
  alone: CreateGeoEmbeddings,
  { deps, manifest, context }: PlanContext,
): Promise<RasterInput> {
  const request = readRequest({ ...alone, ...(scale && { scale }), ...(scaleFrom && { scaleFrom }) })
  const { signal } = context
  const reference = await referenceOfRequest(context.project.database, request, manifest)
  const workdir = join(context.workdir, 'look')
  await mkdir(workdir)
  try {
    const { path } = await openSource(request.source, { ...context, workdir }, deps)
    return await readRaster(deps, request, manifest, { path, reference, signal })
  } finally {
    await rm(workdir, { recursive: true, force: true })
  }
}

function planOf(first: RasterInput, all: readonly RasterInput[]): TablePlan {
  const { inspected, stretch } = first
  const { taken } = planAlone(first)
  const alike = all.filter((raster) => differenceFrom(taken, raster.inspected) === null)
  const min = stretch.min.map((_, i) => Math.min(...alike.map((raster) => raster.stretch.min[i]!)))
  const max = stretch.max.map((_, i) => Math.max(...alike.map((raster) => raster.stretch.max[i]!)))
  return planAlone({ inspected, stretch: { ...stretch, min, max } })
}

function planAlone({ inspected, stretch: own }: Pick<RasterInput, 'inspected' | 'stretch'>): TablePlan {
  // The share of clamped samples differs between rasters, so the plan leaves it out.
  const { clamped: _, ...stretch } = own
  const { profile, channels, min, max, origin, values = null } = stretch
  const { bands } = inspected
  const ranges = min.map((low, i) => [low, max[i]!] as const)
  const taken = { ranges, profile, channels, bands, values, isExplicit: origin === 'explicit' }
  return { taken, stretch, bands, crs: crsOf(inspected) }
}

/** @throws NOT_COMPARABLE when the channels or values of a raster differ from the table's */
export function checkSource({ taken }: TablePlan, name: string, inspected: InspectedRaster): void {
  const why = differenceFrom(taken, inspected)
  if (why !== null) throw notComparable({ name, why })
}

/** Ratio of pixel sizes above which searches refuse to compare two tables. */
const OTHER_SIZE = 1.25

/** A warning where the pixels of a raster have another size on the ground than those of the table. */
export function pixelWarnings({ stretch }: TablePlan, inspected: InspectedRaster): { code: string; message: string }[] {
  const [own, table] = [groundSize(inspected), stretch.pixel_meters ?? 0]
  if (!(table > 0) || Math.max(own / table, table / own) <= OTHER_SIZE) return []
  const sizes = `${own.toPrecision(3)} m, those of the table ${table.toPrecision(3)} m`
  const message = `Its pixels are ${sizes}: tiles of equal content look different. Resample it, or make a table of its own.`
  return [{ code: 'PIXELS_DIFFER', message }]
}
