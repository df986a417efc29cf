import { Type, type Static } from 'typebox'
import { Check } from 'typebox/value'
import type { EmbeddingKind } from '@terrane/database/geoembeddings'

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) => Type.Union([type, Type.Null()])
const text = (maxLength: number) => Type.String({ maxLength })

const Portable = Type.Object({
  kind: Type.Enum(['geo', 'srai']),
  model_name: Type.String({ minLength: 1, maxLength: 300 }),
  model_sha256: nullable(Type.String({ pattern: '^[0-9a-f]{64}$' })),
  model_licence: nullable(text(300)),
  level: Type.Enum(['tile', 'patch', 'cell', 'place']),
  normalized: Type.Boolean(),
  metric: Type.Enum(['cosine', 'l2']),
  source_crs: nullable(text(2000)),
  attribution: nullable(text(2000)),
  tile_size: nullable(Type.Integer()),
  stride: nullable(Type.Integer()),
  bands: nullable(Type.Array(Type.Integer(), { maxItems: 16_000 })),
  scale: nullable(Type.Record(text(100), Type.Unknown(), { maxProperties: 100 })),
  feature_names: nullable(Type.Array(text(500), { maxItems: 16_000 })),
  sources: Type.Array(
    Type.Object({
      source: Type.Integer({ minimum: 0, maximum: 2_097_151 }),
      datetime: nullable(text(60)),
      profile: nullable(text(200)),
      crs: nullable(text(2000)),
      data_type: nullable(text(60)),
    }),
    { maxItems: 100_000 },
  ),
})
/** The part of a catalogue row that is stored in a file of a table. */
export type PortableCatalogue = Static<typeof Portable>

/** Columns of each kind of table beside id, geometry and vector. */
const COLUMNS: Readonly<Record<EmbeddingKind, readonly string[]>> = {
  patch: ['tile_x', 'tile_y', 'px', 'py', 'valid_fraction', 'patch'],
  tile: ['tile_x', 'tile_y', 'px', 'py', 'valid_fraction'],
  h3: ['h3_index'],
  place: ['place_id', 'datetime', 'valid_fraction'],
}

/** A file of one of our own tables. */
export interface OwnTable {
  readonly kind: EmbeddingKind
  /** Columns to read: id, label, then those of the kind. */
  readonly columns: readonly string[]
  readonly hasLabels: boolean
  readonly catalogue: PortableCatalogue
}

/** The table that a file was exported from or is an artifact of, by intact metadata; null for other files. */
export function ownTableOf(names: readonly string[], metadata: ReadonlyMap<string, string>): OwnTable | null {
  const kind = (['patch', 'tile', 'h3', 'place'] as const).find((one) =>
    ['id', ...COLUMNS[one]].every((name) => names.includes(name)),
  )
  const said = metadata.get('emb')
  if (kind === undefined || said === undefined) return null
  try {
    const { catalogue } = JSON.parse(said) as { catalogue?: unknown }
    if (!Check(Portable, catalogue)) return null
    const hasLabels = names.includes('label_name')
    return { kind, columns: ['id', ...(hasLabels ? ['label_name'] : []), ...COLUMNS[kind]], hasLabels, catalogue }
  } catch {
    return null
  }
}
