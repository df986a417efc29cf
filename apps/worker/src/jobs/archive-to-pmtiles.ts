import { ArchiveToPmtiles, type JobWarning } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import { scan, type Database, type PackedBytes, type ScanValues } from '@terrane/database'
import { checkKey } from '@terrane/storage'
import { buildPmtilesInThread, checkZooms, type AttributeValue, type FeatureBatch } from '@terrane/tiling/vector'
import { tableUnreadable } from './archive/errors.ts'
import { findSpatialTable, type SpatialTable } from './archive/spatial-table.ts'
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

/** Makes the task that turns a spatial table into the storage object `pmtiles/{table}.pmtiles`. */
export function archiveToPmtiles(options: ArchiveOptions): Task {
  return {
    name: 'archiveToPmtiles',
    summary: 'Archive a spatial table as vector tiles',
    description:
      'Writes the storage object pmtiles/{table}.pmtiles, a PMTiles v3 archive of vector tiles, and replaces an earlier one. ' +
      'The bucket pmtiles must exist. Every feature is shown at the highest zoom; below it the smallest and densest ones ' +
      'give way where a tile would exceed maxTileBytes.',
    body: ArchiveToPmtiles,
    expireSeconds: 6 * 3600,
    version: 1,
    async checkSubmit(raw, { project }) {
      const input = raw as ArchiveToPmtiles
      checkZooms(zoomsOf(input))
      checkKey(keyOf(input))
      requireReadable(input.schema ?? 'public', options.openSchemas ?? [])
      await requireBucket(project.store, BUCKET)
      await findSpatialTable(project.database, input.schema ?? 'public', input.table, input.properties ?? null)
    },
    run: (raw, context) => runArchive(raw as ArchiveToPmtiles, context, options),
  }
}

async function runArchive(input: ArchiveToPmtiles, context: JobContext, options: ArchiveOptions) {
  const { database } = context.project
  const { schema = 'public', table, layerName = table } = input
  await requireBucket(context.project.store, BUCKET)
  const source = await findSpatialTable(database, schema, table, input.properties ?? null)
  await using archive = await buildPmtilesInThread(readFeatures(database, source), {
    layer: layerName,
    attributes: source.attributes.map(({ name }) => name),
    zooms: zoomsOf(input),
    ...(input.dropRate === undefined ? {} : { dropRate: input.dropRate }),
    ...(input.maxTileBytes === undefined ? {} : { maxTileBytes: input.maxTileBytes }),
    memoryBytes: options.memoryBytes,
    workDirectory: context.workdir,
    name: `${schema}.${table}`,
    ...(await describeSource(database, schema, table)),
    signal: context.signal,
    onProgress: (step) => {
      const total = step.phase === 'read' && source.rows !== null ? Math.max(source.rows, step.done) : step.total
      context.progress({ ...step, total })
    },
  })
  const warnings = acceptWarnings(input.strict, skippedWarnings(archive.skipped))
  const path = keyOf(input)
  const content = { body: withProgress(archive.read(), archive.bytes, context), contentType: CONTENT_TYPE }
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

/** Features that no tile shows. Those that give way at low zooms are none of them: the highest zoom has all. */
function skippedWarnings(skipped: number): JobWarning[] {
  if (skipped === 0) return []
  const message = 'Features without a geometry that a map can show were left out: empty, or beyond the poles.'
  return [{ code: 'FEATURES_SKIPPED', message, count: skipped }]
}

function keyOf({ table }: ArchiveToPmtiles): string {
  return `${table}.pmtiles`
}

function zoomsOf({ zooms = 'auto' }: ArchiveToPmtiles): 'auto' | readonly [number, number] {
  if (zooms === 'auto') return zooms
  return Array.isArray(zooms) ? [zooms[0]!, zooms[1]!] : [zooms.min, zooms.max]
}

/** Attribution and comment of the table, as far as they are known. */
async function describeSource(
  database: Database,
  schema: string,
  table: string,
): Promise<{ attribution?: string; description?: string }> {
  const { rows } = await database.query<{ attribution: string | null; description: string | null }>(
    `select (select attribution from terrane.imports where table_schema = $1 and table_name = $2) as attribution,
       obj_description(format('%I.%I', $1::text, $2::text)::regclass, 'pg_class') as description`,
    [schema, table],
  )
  const { attribution, description } = rows[0]!
  return { ...(attribution === null ? {} : { attribution }), ...(description === null ? {} : { description }) }
}

/** The rows of a table as features. */
async function* readFeatures(database: Database, source: SpatialTable): AsyncGenerator<FeatureBatch> {
  const columns = [
    { sql: source.geometry, type: 'bytes' as const },
    { sql: source.id ?? 'null', type: 'int8' as const },
    ...source.attributes,
  ]
  try {
    for await (const { columns: values } of scan(database, columns, source.name)) {
      const [geometry, ids, ...attributes] = values as [PackedBytes, ScanValues, ...ScanValues[]]
      yield {
        geometry: geometry.bytes,
        geometryEnds: geometry.ends,
        ids: source.id === null ? null : (ids as (number | bigint | null)[]),
        columns: attributes as AttributeValue[][],
      }
    }
  } catch (cause) {
    throw explained(cause, source)
  }
}

/** The server's own error about a row, as one about the table; every other error as it is. */
function explained(cause: unknown, source: SpatialTable): unknown {
  const { code } = cause as { code?: unknown }
  if (cause instanceof TerraneError || !(cause instanceof Error) || typeof code !== 'string' || code.length !== 5) {
    return cause
  }
  // PostGIS reports its errors as internal ones.
  return tableUnreadable({ table: source.name, reason: cause.message, isSpatial: code === 'XX000' }, { cause })
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
