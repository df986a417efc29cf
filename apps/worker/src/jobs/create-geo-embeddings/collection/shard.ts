import type { CreateGeoEmbeddings } from '@terrane/contracts'
import type { EmbeddingSource } from '@terrane/database/geoembeddings'
import type { Model } from '@terrane/embeddings'
import type { JobContext, Shard } from '../../task.ts'
import type { GeoEmbeddingsDeps } from '../create-geo-embeddings.ts'
import { sourceOfTable, sourceVersion, warningsOf } from '../describe.ts'
import { readRequest } from '../request.ts'
import { RasterRun } from '../run.ts'
import { checkSource, type TablePlan } from './table-plan.ts'

/** What a shard is queued with: one raster, and how the table sees it. */
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
  }
}

/** What became of a raster. */
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

/** The model of a job. */
export function acquireModel(deps: GeoEmbeddingsDeps, modelName: string, context: JobContext): Promise<Model> {
  return deps.models.acquire(modelName, {
    signal: context.signal,
    onProgress: (progress) => context.progress({ ...progress, phase: 'model', message: 'downloading the model' }),
  })
}

/** One run of a shard: its rows become those of the collection, or it finds that the table has them. */
export async function embedShard(
  deps: GeoEmbeddingsDeps,
  { request: body, shard }: ShardInput,
  context: JobContext,
  parentId: string,
): Promise<ShardResult> {
  const { number, name, known, table } = shard
  const request = readRequest(body)
  return new RasterRun<ShardResult>(deps, request, context, {
    taken: table.taken,
    begin: ({ version }) =>
      sourceVersion(version, request) === known ? { source: null, warnings: [], timings: {} } : null,
    accept: (inspected) => checkSource(table, name, inspected),
    finish: ({ making, source, output, skipped, watch }) => {
      const result: ShardResult = {
        source: sourceOfTable(request, making.inspected, output.state, { deps, source, skipped, name }),
        warnings: warningsOf(making),
        timings: watch.seconds(),
      }
      return output.give({ jobId: parentId, shard: number }, result)
    },
  }).run()
}
