import type { Queryable } from '../database.ts'
import type { CatalogueEntry } from './catalogue.ts'
import type { EmbeddingSource } from './sources.ts'

/** Catalogue row and sources as exported with a file, without names of people and files; null without a table. */
export async function portableCatalogue(
  database: Queryable,
  tableName: string,
): Promise<Readonly<Record<string, unknown>> | null> {
  const { rows } = await database.query<{ about: Record<string, unknown> }>(
    `select to_jsonb(r) as about from (
       select kind, model_name, model_sha256, model_licence, level, normalized, metric, source_crs, attribution, tile_size,
         stride, bands, scale, feature_names,
         (select coalesce(jsonb_agg(jsonb_build_object('source', s.source, 'datetime', s.datetime, 'profile', s.profile,
            'crs', s.crs, 'data_type', s.data_type) order by s.source), '[]')
          from geoembeddings.embedding_sources s where s.table_name = c.table_name and s.status = 'done') as sources
       from geoembeddings.embeddings_catalogue c where c.table_name = $1
     ) r`,
    [tableName],
  )
  return rows[0]?.about ?? null
}

/** Like {@link portableCatalogue}, for a table that is not in the catalogue yet. */
export function portableEntry(
  entry: Pick<
    CatalogueEntry,
    | 'kind'
    | 'modelName'
    | 'modelSha256'
    | 'modelLicence'
    | 'level'
    | 'normalized'
    | 'metric'
    | 'sourceCrs'
    | 'attribution'
    | 'tileSize'
    | 'stride'
    | 'bands'
    | 'scale'
    | 'featureNames'
  >,
  sources: readonly (EmbeddingSource & { readonly source: number })[],
): Readonly<Record<string, unknown>> {
  return {
    kind: entry.kind,
    model_name: entry.modelName,
    model_sha256: entry.modelSha256,
    model_licence: entry.modelLicence,
    level: entry.level,
    normalized: entry.normalized,
    metric: entry.metric,
    source_crs: entry.sourceCrs,
    attribution: entry.attribution,
    tile_size: entry.tileSize,
    stride: entry.stride,
    bands: entry.bands,
    scale: entry.scale,
    feature_names: entry.featureNames,
    sources: sources
      .filter(({ status }) => status === 'done')
      .map(({ source, datetime, profile, crs, dataType }) => ({ source, datetime, profile, crs, data_type: dataType })),
  }
}
