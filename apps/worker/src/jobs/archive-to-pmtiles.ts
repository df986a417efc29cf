import { ArchiveToPmtiles, type JobWarning } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import { readComment, type Database } from '@terrane/database'
import { scan, type PackedBytes, type ScanValues } from '@terrane/database/scan'
import { checkKey } from '@terrane/storage'
import { buildPmtilesInThread, type AttributeValue, type FeatureBatch, type TilerResult } from '@terrane/tiling/vector'
import { tableUnreadable } from './archive/errors.ts'
import { findLayers, layersOf, zoomsOf, type SourceLayer } from './archive/layers.ts'
import { isLastAttempt } from '../queue/job-life.ts'
import { requireReadable } from './open-schemas.ts'
import { publishObject } from './publish-object.ts'
import { requireBucket } from './stored-object.ts'
import type { JobContext, Task } from './task.ts'
import { acceptWarnings } from './warnings.ts'

const BUCKET = 'pmtiles'
const CONTENT_TYPE = 'application/vnd.pmtiles'

export interface ArchiveOptions {
  /** Memory that a job may use for features and tiles before it writes to its folder. */
  readonly memoryBytes: number
  /** Schemas besides `public` and `geoembeddings` whose tables may be read. */
  readonly openSchemas?: readonly string[]
}

/** Makes the task that turns spatial tables into the storage object `pmtiles/{table}.pmtiles`, a layer each. */
export function archiveToPmtiles(options: ArchiveOptions): Task {
  return {
    name: 'archiveToPmtiles',
    summary: 'Archive spatial tables as vector tiles',
    description:
      'Writes the storage object pmtiles/{table}.pmtiles, a PMTiles v3 archive of vector tiles, and replaces an earlier one. ' +
      'The bucket pmtiles must exist. Each table or view in layers is a further layer of the archive. Every feature is shown ' +
      'at the highest zoom of its layer; below it the smallest and densest ones, or the last ones by rankBy, give way ' +
      'where a tile would exceed maxTileBytes.',
    body: ArchiveToPmtiles,
    expireSeconds: 6 * 3600,
    version: 1,
    async checkSubmit(raw, { project }) {
      const input = raw as ArchiveToPmtiles
      checkKey(keyOf(input))
      for (const { layer } of layersOf(input)) requireReadable(layer.schema ?? 'public', options.openSchemas ?? [])
      await requireBucket(project.store, BUCKET)
      await findLayers(project.database, input)
    },
    run: (raw, context) => runArchive(raw as ArchiveToPmtiles, context, options),
  }
}

async function runArchive(input: ArchiveToPmtiles, context: JobContext, options: ArchiveOptions) {
  const { database } = context.project
  await requireBucket(context.project.store, BUCKET)
  const layers = await findLayers(database, input)
  // The server's row estimates do not account for a filter.
  const isKnown = layers.every(({ table, from }) => table.rows !== null && from.where === '')
  const expected = isKnown ? layers.reduce((sum, { table }) => sum + (table.rows ?? 0), 0) : 0
  await using archive = await buildPmtilesInThread(readLayers(database, layers, isLastAttempt(context)), {
    layers: layers.map(({ tiler }) => tiler),
    zooms: zoomsOf(input.zooms),
    ...(input.maxTileBytes === undefined ? {} : { maxTileBytes: input.maxTileBytes }),
    memoryBytes: options.memoryBytes,
    workDirectory: context.workdir,
    name: input.archiveName ?? `${layers[0]!.schema}.${layers[0]!.tableName}`,
    ...(await describeSources(database, layers)),
    signal: context.signal,
    onProgress: (step) => {
      const total = step.phase === 'read' && expected > 0 ? Math.max(expected, step.done) : step.total
      context.progress({ ...step, total })
    },
  })
  const warnings = acceptWarnings(input.strict, layerWarnings(archive.layers))
  const path = keyOf(input)
  const content = {
    body: withProgress(archive.read(), archive.bytes, context),
    contentType: CONTENT_TYPE,
    size: archive.bytes,
  }
  return await publishObject(context, { bucket: BUCKET, key: path }, content, {
    bucket: BUCKET,
    path,
    bytes: archive.bytes,
    etag: null,
    tiles: archive.tiles,
    minzoom: archive.minZoom,
    maxzoom: archive.maxZoom,
    bounds: archive.bounds,
    center: archive.center,
    layers: archive.metadata['vector_layers'],
    features: archive.features,
    skipped_features: archive.skipped,
    dropped_features: archive.dropped,
    warnings,
  })
}

/** Warnings about empty layers and features that no tile shows; those dropped at low zooms are in the highest. */
function layerWarnings(layers: TilerResult['layers']): JobWarning[] {
  const named = (name: string) => (layers.length > 1 ? { layer: name } : {})
  const skipped = layers.filter((layer) => layer.skipped > 0)
  const empty = layers.filter((layer) => layer.features === 0)
  return [
    ...skipped.map((layer) => ({
      code: 'FEATURES_SKIPPED',
      message: 'Features without a geometry that a map can show were left out: empty, or beyond the poles.',
      ...named(layer.name),
      count: layer.skipped,
    })),
    ...empty.map((layer) => ({
      code: 'LAYER_EMPTY',
      message: 'The layer shows nothing: no row has a geometry, or the filter leaves none.',
      ...named(layer.name),
    })),
  ]
}

function keyOf({ table, archiveName = table }: ArchiveToPmtiles): string {
  return `${archiveName}.pmtiles`
}

/** Attributions of all tables, and the comment if there is only one table. */
async function describeSources(
  database: Database,
  layers: readonly SourceLayer[],
): Promise<{ attribution?: string; description?: string }> {
  const { rows } = await database.query<{ attribution: string | null; comment: string | null }>(
    `select i.attribution, obj_description(format('%I.%I', t.schema, t.name)::regclass, 'pg_class') as comment
     from unnest($1::text[], $2::text[]) with ordinality as t (schema, name, place)
     left join terrane.imports i on i.table_schema = t.schema and i.table_name = t.name order by place`,
    [layers.map(({ schema }) => schema), layers.map(({ tableName }) => tableName)],
  )
  const comments = rows.map(({ comment }) => readComment(comment))
  const attributions = [
    ...new Set(rows.flatMap(({ attribution }, at) => comments[at]!.attribution ?? attribution ?? [])),
  ]
  const description = comments.length === 1 ? comments[0]!.description : null
  return {
    ...(attributions.length > 0 && { attribution: attributions.join(', ') }),
    ...(description !== null && { description }),
  }
}

/** The rows of all tables as features, one table after the other, each from one snapshot. */
async function* readLayers(
  database: Database,
  layers: readonly SourceLayer[],
  isWhole: boolean,
): AsyncGenerator<FeatureBatch> {
  for (const [layer, source] of layers.entries()) {
    try {
      yield* readFeatures(database, source, layer, isWhole)
    } catch (cause) {
      throw explained(cause, source.table.name)
    }
  }
}

async function* readFeatures(
  database: Database,
  { table, from }: SourceLayer,
  layer: number,
  isWhole: boolean,
): AsyncGenerator<FeatureBatch> {
  const columns = [
    { sql: table.geometry, type: 'bytes' as const },
    { sql: table.id ?? 'null', type: 'int8' as const },
    ...table.attributes,
  ]
  for await (const { columns: values } of scan(database, columns, from, { isWhole })) {
    const [geometry, ids, ...attributes] = values as [PackedBytes, ScanValues, ...ScanValues[]]
    yield {
      layer,
      geometry: geometry.bytes,
      geometryEnds: geometry.ends,
      ids: table.id === null ? null : (ids as (number | bigint | null)[]),
      columns: attributes as AttributeValue[][],
    }
  }
}

/** Turns the server's error about a row into one that names the table; other errors are returned unchanged. */
function explained(cause: unknown, table: string): unknown {
  const { code } = cause as { code?: unknown }
  if (cause instanceof TerraneError || !(cause instanceof Error) || typeof code !== 'string' || code.length !== 5) {
    return cause
  }
  // PostGIS reports its errors as internal ones (XX000).
  return tableUnreadable({ table, reason: cause.message, isSpatial: code === 'XX000' }, { cause })
}

async function* withProgress(
  pieces: AsyncIterable<Uint8Array>,
  total: number,
  context: JobContext,
): AsyncGenerator<Uint8Array> {
  let done = 0
  for await (const piece of pieces) {
    yield piece
    done += piece.length
    context.progress({ phase: 'upload', done, total, unit: 'bytes' })
  }
}
