import type { ImportEmbeddings, JobWarning } from '@terrane/contracts'
import type { EmbeddingSource } from '@terrane/database/geoembeddings'
import type { EmbeddingProduct } from '@terrane/embeddings/products'
import { redactUrl } from '../../projects/redact.ts'
import type { OutputState, Publication } from '../embeddings/embedding-output.ts'
import type { PortableCatalogue } from './own-table.ts'

/** Facts about the vectors of a table. */
export interface VectorFacts {
  readonly catalogue: Omit<PortableCatalogue, 'sources'>
  /** Null for our own tables and for products that are not known here. */
  readonly product: EmbeddingProduct | null
  readonly dims: number
  readonly skipped: number
  readonly warnings: readonly JobWarning[]
  readonly datetime: string | null
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Catalogue entry of imported vectors, by their product. */
export function foreignCatalogue(
  product: EmbeddingProduct | null,
  about: Pick<VectorFacts['catalogue'], 'model_name' | 'level' | 'normalized'> & Partial<VectorFacts['catalogue']>,
): VectorFacts['catalogue'] {
  return {
    kind: 'geo',
    model_sha256: null,
    model_licence: product?.licence ?? null,
    metric: 'cosine',
    source_crs: 'EPSG:4326',
    attribution: product?.attribution ?? null,
    tile_size: null,
    stride: null,
    bands: null,
    scale: null,
    feature_names: null,
    ...about,
  }
}

/** Description of the table for record, catalogue and STAC item. */
export function publicationOf(
  body: ImportEmbeddings,
  { catalogue, product, dims, skipped, warnings, datetime, metadata }: VectorFacts,
): Omit<Publication, 'sources'> {
  const licence = body.licence ?? catalogue.model_licence ?? 'unknown'
  const attribution = body.attribution ?? catalogue.attribution
  const model = catalogue.model_name
  const crs = catalogue.source_crs ?? 'EPSG:4326'
  return {
    result: {
      model: { id: model, sha256: catalogue.model_sha256 ?? '', licence },
      skipped_nodata: skipped,
      scale: catalogue.scale,
      crs,
      ...(attribution !== null && { attribution }),
      ...(warnings.length > 0 && { warnings: [...warnings] }),
    },
    entry: {
      kind: catalogue.kind,
      owner: body.ownerUuid ?? null,
      isPublic: body.isPublic ?? null,
      modelName: model,
      modelSha256: catalogue.model_sha256,
      modelLicence: licence,
      level: catalogue.level,
      normalized: catalogue.normalized,
      metric: catalogue.metric,
      source: addressOf(body),
      sourceCrs: crs,
      attribution,
      tileSize: catalogue.tile_size,
      stride: catalogue.stride,
      bands: catalogue.bands,
      scale: catalogue.scale,
      featureNames: catalogue.feature_names,
    },
    item: {
      datetime: body.datetime ?? datetime ?? new Date().toISOString(),
      licence: { title: licence, href: null },
      source: { title: 'Ready-made embeddings', href: body.url === undefined ? null : redactUrl(body.url) },
      model: { title: model, href: product?.source ?? null },
      parameters: { dimensions: dims, ...metadata },
      preprocessing: 'vectors as they were published',
      normalized: catalogue.normalized,
    },
  }
}

/** Fields for rasters, except minValidFraction: every request has its default. */
const OF_RASTERS = ['pool', 'statistics', 'bands', 'nodata'] as const
/** Fields of the request that have no effect for a kind of file. */
const UNUSED = {
  raster: ['columns', 'groundSizeMeters'],
  zarr: ['groundSizeMeters'],
  parquet: OF_RASTERS,
  own: [...OF_RASTERS, 'product', 'version', 'quantization'],
} as const satisfies Record<string, readonly (keyof ImportEmbeddings)[]>

/** Warns of fields of the request that have no effect for the file. */
export function unused(body: ImportEmbeddings, kind: keyof typeof UNUSED): JobWarning[] {
  const names = UNUSED[kind].filter((name) => body[name] !== undefined)
  if (names.length === 0) return []
  const message = 'Members of the request that do nothing for a file of this kind were passed over.'
  return [{ code: 'MEMBERS_UNUSED', message, count: names.length, examples: names }]
}

/** The code of `EPSG:…`; null when absent. */
export function epsgOf(srs: string | undefined): number | null {
  return srs === undefined ? null : Number(srs.slice('EPSG:'.length))
}

/** The address of the file, without credentials. */
export function addressOf({ url, storagePath }: ImportEmbeddings): string {
  return url === undefined ? `${storagePath!.bucket}/${storagePath!.path}` : redactUrl(url)
}

/** The file as the only source of a table. */
export function sourceOf(
  body: ImportEmbeddings,
  { rows, zeroVectors, bbox }: OutputState,
  about: Pick<EmbeddingSource, 'datetime' | 'crs' | 'dataType' | 'skipped'>,
): EmbeddingSource & { readonly source: number } {
  const { datetime, crs, dataType, skipped } = about
  const name = addressOf(body)
  const found = { datetime: datetime ?? body.datetime ?? null, crs, dataType, rows, skipped, zeroVectors, bbox }
  return { source: 0, name, profile: null, status: 'done', version: null, error: null, ...found }
}
