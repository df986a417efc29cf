import { CreateGeoEmbeddings } from '@terrane/contracts'
import type { Queryable } from '@terrane/database'
import { findAppendable, type Appendable } from '@terrane/database/collections'
import { appendDiffers, appendTargetMissing, sourcesConflict } from '../errors.ts'

/** Settings of a table that the catalogue stores. */
interface TableMetadata {
  readonly tiling?: { readonly edge?: 'pad' | 'drop' | 'shift'; readonly align_grid?: boolean }
  readonly min_valid_fraction?: number
}

/**
 * The table that a request appends to, and the request with the settings of the table.
 *
 * @throws TABLE_NOT_FOUND, APPEND_DIFFERS when the request has other settings, CONFLICTING_FIELDS with scale, artifacts
 * and readers
 */
export async function readTarget(
  database: Queryable,
  body: CreateGeoEmbeddings,
): Promise<{ body: CreateGeoEmbeddings; table: Appendable }> {
  const { tableName } = body
  const table = await findAppendable(database, tableName)
  if (table?.kind !== 'geo') throw appendTargetMissing({ table: tableName })
  const conflicting = [
    ...(['scale', 'scaleFrom', 'uploadArtifactsToStorage', 'ownerUuid'] as const).filter((field) => body[field]),
    ...(body.isPublic === undefined ? [] : ['isPublic']),
  ]
  if (conflicting.length > 0) throw sourcesConflict({ fields: ['mode', ...conflicting] })
  const made = table.metadata as TableMetadata
  const decided = {
    modelName: table.model_name,
    tileSize: table.tile_size ?? 256,
    stride: table.stride ?? table.tile_size ?? 256,
    level: table.level as 'tile' | 'patch',
    normalizeEmbeddings: table.normalized,
    edge: made.tiling?.edge ?? 'pad',
    alignGrid: made.tiling?.align_grid ?? false,
    minValidFraction: made.min_valid_fraction ?? body.minValidFraction,
  }
  const fields = Object.entries(decided)
    .map(([field, value]) => ({ field, table: value, request: body[field as keyof typeof decided] }))
    .filter(({ field, table: there, request }) => ![undefined, there, unsaid(field)].includes(request))
  if (fields.length > 0) throw appendDiffers({ table: tableName, fields })
  const { minValidFraction, ...rest } = decided
  return { body: { ...body, ...rest, ...(minValidFraction !== undefined && { minValidFraction }) }, table }
}

/** Default of a field; a request with the default counts as one that does not name the field. */
function unsaid(field: string): unknown {
  return (CreateGeoEmbeddings.properties as Readonly<Record<string, { readonly default?: unknown }>>)[field]?.default
}
