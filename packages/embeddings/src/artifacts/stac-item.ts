import { boxRing } from '@terrane/core'
import type { BoundingBox } from './wkb.ts'

/** A title with an optional link. */
interface Linked {
  readonly title: string
  /** Null when no public URL exists. */
  readonly href: string | null
}

export interface StacItemRequest {
  /** Name of the item: the table's. */
  readonly id: string
  /** Time of the imagery or the map; when unknown, the time at which the embeddings were made. RFC 3339. */
  readonly datetime: string
  /** The last of several times; `datetime` is the first. */
  readonly until?: string
  /** When the embeddings were made; RFC 3339. */
  readonly created: string
  /** Bounding box of all rows. */
  readonly bbox: BoundingBox
  /** The GeoParquet file. */
  readonly embeddings: { readonly href: string; readonly bytes: number }
  /** Licence of the embeddings. */
  readonly licence: Linked
  readonly source: Linked
  readonly model: Linked
  /** Model, sizes and all other parameters that reproduce the embeddings. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Preprocessing of the input before the model, in words or a formula. */
  readonly preprocessing: string
  /** Each embedding has length 1. */
  readonly normalized: boolean
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
  return {
    type: 'Feature',
    stac_version: '1.0.0',
    stac_extensions: ['https://stac-extensions.github.io/embeddings/v0.0.1/schema.json'],
    id: request.id,
    bbox: request.bbox,
    geometry: { type: 'Polygon', coordinates: [boxRing(request.bbox)] },
    properties: {
      ...(request.until === undefined
        ? { datetime: request.datetime }
        : { datetime: null, start_datetime: request.datetime, end_datetime: request.until }),
      created: request.created,
      license: request.licence.title,
      'emb:runtime_parameters': request.parameters,
      'emb:preprocessing': { format: 'text', expression: request.preprocessing },
      ...(request.normalized && { 'emb:postprocessing': { format: 'text', expression: 'l2_normalize' } }),
    },
    links: [
      ...linkTo('emb:model', request.model),
      ...linkTo('emb:source-data', request.source),
      ...linkTo('license', request.licence),
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

function linkTo(rel: string, { href, title }: Linked): object[] {
  return href === null ? [] : [{ rel, href, title }]
}
