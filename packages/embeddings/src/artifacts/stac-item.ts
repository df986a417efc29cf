import type { EmbeddingLevel, ModelManifest } from '../models/manifest.ts'
import type { BoundingBox } from './wkb.ts'

export interface StacItemRequest {
  /** Name of the item: the table's. */
  readonly id: string
  /** When the imagery was taken, or when the embeddings were made if that is unknown; RFC 3339. */
  readonly datetime: string
  /** When the embeddings were made; RFC 3339. */
  readonly created: string
  /** Around all tiles. */
  readonly bbox: BoundingBox
  /** The GeoParquet file. */
  readonly embeddings: { readonly href: string; readonly bytes: number }
  /** URL of the imagery; null when it has none that others could use. */
  readonly source: string | null
  readonly model: { readonly manifest: ModelManifest; readonly sha256: string }
  readonly tiles: {
    /** Pixels. */
    readonly size: number
    readonly stride: number
    readonly level: EmbeddingLevel
  }
  /** What was done to the pixels before the model, in words or a formula. */
  readonly preprocessing: string
  readonly normalized: boolean
  /** 0-based band indices of the source. */
  readonly bands: readonly number[]
}

/** A STAC 1.0 Item. */
export interface StacItem {
  readonly type: 'Feature'
  readonly stac_version: '1.0.0'
  readonly stac_extensions: readonly string[]
  readonly id: string
  readonly bbox: BoundingBox
  readonly geometry: object
  readonly properties: Readonly<Record<string, unknown>>
  readonly links: readonly object[]
  readonly assets: Readonly<Record<string, object>>
}

/**
 * Describes a file of embeddings as a STAC item.
 *
 * Source: STAC 1.0.0; STAC embeddings extension v0.0.1.
 */
export function stacItem(request: StacItemRequest): StacItem {
  const { model, tiles, bbox, source } = request
  const { manifest } = model
  const [west, south, east, north] = bbox
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  const modelUrl = manifest.files[0]!.url
  return {
    type: 'Feature',
    stac_version: '1.0.0',
    stac_extensions: ['https://stac-extensions.github.io/embeddings/v0.0.1/schema.json'],
    id: request.id,
    bbox,
    geometry: { type: 'Polygon', coordinates: [ring] },
    properties: {
      datetime: request.datetime,
      created: request.created,
      license: manifest.licence.name,
      'emb:runtime_parameters': {
        model: manifest.id,
        model_revision: manifest.revision,
        model_sha256: model.sha256,
        dimensions: manifest.dims,
        bands: request.bands,
        chip_size: tiles.size,
        stride: tiles.stride,
        level: tiles.level,
      },
      'emb:preprocessing': { format: 'text', expression: request.preprocessing },
      ...(request.normalized && { 'emb:postprocessing': { format: 'text', expression: 'l2_normalize' } }),
    },
    links: [
      ...(modelUrl === null ? [] : [{ rel: 'emb:model', href: modelUrl, title: manifest.title }]),
      ...(source === null ? [] : [{ rel: 'emb:source-data', href: source, title: 'Source imagery' }]),
      ...(manifest.licence.url === null
        ? []
        : [{ rel: 'license', href: manifest.licence.url, title: manifest.licence.name }]),
    ],
    assets: {
      embeddings: {
        href: request.embeddings.href,
        type: 'application/vnd.apache.parquet',
        title: 'Embeddings as GeoParquet',
        roles: ['data'],
        'file:size': request.embeddings.bytes,
      },
    },
  }
}
