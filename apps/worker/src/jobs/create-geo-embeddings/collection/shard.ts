import type { CreateGeoEmbeddings } from '@terrane/contracts'
import type { EmbeddingSource } from '@terrane/database/geoembeddings'
import { Stopwatch } from '../../embeddings/stopwatch.ts'
import type { JobContext, Shard } from '../../task.ts'
import type { GeoEmbeddingsDeps } from '../deps.ts'
import { sourceOfTable, sourceVersion, warningsOf } from '../describe.ts'
import { embedTiles, openRaster, readInput, type RasterRun } from '../embed-raster.ts'
import { readRequest } from '../request.ts'
import type { SourceFacts } from '../scenes/stac-sources.ts'
import { checkSource, pixelWarnings, type TablePlan } from './table-plan.ts'

/** Queued input of a shard: one raster, and how the table reads it. */
export interface ShardInput extends Readonly<Record<string, unknown>> {
  readonly projectTarget?: CreateGeoEmbeddings['projectTarget']
  readonly request: CreateGeoEmbeddings
  readonly shard: {
    readonly number: number
    readonly name: string
    /** The version that the table has of it; null when it has none. */
    readonly known: string | null
    /** Sources that the table has and that have not changed. */
    readonly unchanged: number
    readonly table: TablePlan
    /** The source's fields in the catalogue; absent in shards of earlier versions. */
    readonly facts?: SourceFacts | null
  }
}

/** Result of a shard. */
export interface ShardResult extends Readonly<Record<string, unknown>> {
  /** Null when the table has it already. */
  readonly source: EmbeddingSource | null
  readonly warnings: readonly { readonly code: string; readonly message: string }[]
  /** Seconds per phase. */
  readonly timings: Readonly<Record<string, number>>
}

export interface GeoShard extends Shard {
  readonly input: ShardInput
  readonly result: ShardResult | null
}

/** Runs a shard: adds the rows of its raster to the collection, unless the table has the same version of the raster. */
export async function embedShard(
  deps: GeoEmbeddingsDeps,
  { request: body, shard }: ShardInput,
  context: JobContext,
  parentId: string,
): Promise<ShardResult> {
  const { number, name, known, table, facts = null } = shard
  const request = readRequest(body)
  const run: RasterRun = { deps, request, context, watch: new Stopwatch() }
  const { manifest, file } = await openRaster(run)
  if (sourceVersion(file.version, request) === known) return { source: null, warnings: [], timings: {} }
  const raster = await readInput(run, file, manifest, {
    reference: table.taken,
    check: (inspected) => checkSource(table, name, inspected),
  })
  const { provenance, output, skipped } = await embedTiles(run, file, raster)
  const result: ShardResult = {
    source: sourceOfTable(request, raster.inspected, output.state, { deps, file, skipped, name, facts }),
    warnings: [...warningsOf(provenance), ...pixelWarnings(table, raster.inspected)],
    timings: run.watch.seconds(),
  }
  return output.give({ jobId: parentId, shard: number }, result)
}
