import type { Quantization } from './quantization.ts'

/** Published facts about a product of ready-made embeddings. */
export interface EmbeddingProduct {
  readonly id: string
  /** Dimensions by version; vectors of different versions are not comparable. Empty where any model may be used. */
  readonly versions: Readonly<Record<string, number>>
  /** Conversion of its whole numbers to values; null for floats. */
  readonly quantization: Quantization | null
  /** Stored value of pixels without a vector. */
  readonly nodata: number | null
  /** Its vectors have length 1. */
  readonly isUnit: boolean
  /** Edge length of the ground square around a point; null when rows have areas. */
  readonly groundSizeMeters: number | null
  readonly licence: string | null
  readonly attribution: string | null
  /** URL where these facts are published. */
  readonly source: string
}

const PATCHES = { quantization: null, nodata: null, isUnit: false, groundSizeMeters: null } as const

/** Products whose layout is known, by id. */
export const PRODUCTS: Readonly<Record<string, EmbeddingProduct>> = Object.fromEntries(
  [
    {
      ...PATCHES,
      id: 'alphaearth',
      versions: { v1: 64 },
      quantization: { method: 'signed-square', scale: 1 / 127.5 },
      nodata: -128,
      isUnit: true,
      licence: 'CC-BY-4.0',
      attribution: 'The AlphaEarth Foundations Satellite Embedding dataset is produced by Google and Google DeepMind.',
      source: 'https://developers.google.com/earth-engine/guides/aef_on_gcs_readme',
    },
    {
      ...PATCHES,
      id: 'tessera',
      versions: { '1.0': 128, '1.1': 128, '2': 128 },
      licence: null,
      attribution: 'TESSERA (University of Cambridge), https://arxiv.org/abs/2506.20380',
      source: 'https://geotessera.readthedocs.io/',
    },
    {
      ...PATCHES,
      id: 'clay',
      versions: { v0: 768, 'v1.5': 1024 },
      licence: null,
      attribution: 'Clay, https://clay-foundation.github.io/model/',
      source: 'https://source.coop/clay',
    },
    {
      ...PATCHES,
      id: 'major-tom',
      versions: {},
      licence: 'CC-BY-SA-4.0',
      attribution: 'Major TOM, https://arxiv.org/abs/2412.05600',
      source: 'https://huggingface.co/Major-TOM',
    },
    {
      ...PATCHES,
      id: 'earth-index',
      versions: { v2: 384 },
      groundSizeMeters: 320,
      licence: null,
      attribution: 'Earth Index embeddings, Earth Genome',
      source: 'https://source.coop/earthgenome/earthindexembeddings',
    },
    {
      ...PATCHES,
      id: 'copernicus-embed',
      versions: { v1: 768 },
      licence: null,
      attribution: 'Copernicus-Embed, https://arxiv.org/abs/2503.11849',
      source: 'https://github.com/zhu-xlab/Copernicus-FM',
    },
    {
      ...PATCHES,
      id: 'presto',
      versions: { v1: 128 },
      licence: null,
      attribution: 'Presto embeddings, https://arxiv.org/abs/2304.14065',
      source: 'https://arxiv.org/abs/2601.13134',
    },
  ].map((product) => [product.id, product as EmbeddingProduct]),
)

/** A product and its version; null where unknown. */
export interface ProductName {
  readonly product: string | null
  readonly version: string | null
}

/**
 * The product of a table of vectors, by its columns and dimensions only.
 *
 * @param asked product of the request; it overrides a guess by column names that are common to many files
 */
export function productOfColumns(names: readonly string[], dims: number, asked?: string): ProductName {
  const has = (...wanted: readonly string[]) => wanted.every((name) => names.includes(name))
  if (has('grid_cell', 'grid_row_u', 'grid_col_r')) return { product: 'major-tom', version: null }
  if (has('chips_id', 'cell_id', 'stac_item_id') && dims === 1024) return { product: 'clay', version: 'v1.5' }
  const isClay = has('source_url', 'date', 'embeddings') && dims === 768
  if (isClay && (asked === undefined || asked.toLowerCase() === 'clay')) return { product: 'clay', version: 'v0' }
  return { product: null, version: null }
}

/** Name of a product's model; each version of a product is a model of its own. */
export function productModel(product: string, version: string | null): string {
  return version === null ? product : `${product}@${version}`
}
