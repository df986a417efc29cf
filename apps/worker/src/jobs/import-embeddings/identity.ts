import type { ImportEmbeddings } from '@terrane/contracts'
import { PRODUCTS, productModel, type EmbeddingProduct, type ProductName } from '@terrane/embeddings/products'
import { productMismatch, productNeeded } from './errors.ts'

/** Product and model of the vectors in a file. */
export interface VectorIdentity {
  /** Null for a product that is not known here. */
  readonly product: EmbeddingProduct | null
  /** Name of the model with its version; tables of different models are never compared. */
  readonly model: string
}

/** Product and version, by request or file. @throws PRODUCT_NEEDED if neither names it, PRODUCT_MISMATCH */
export function identify(
  asked: Pick<ImportEmbeddings, 'product' | 'version'>,
  found: ProductName,
  dims: number,
): VectorIdentity {
  const id = asked.product?.toLowerCase() ?? found.product
  if (id === null) throw productNeeded({ field: 'product', known: Object.keys(PRODUCTS) })
  const product = Object.hasOwn(PRODUCTS, id) ? PRODUCTS[id]! : null
  if (found.product !== null && found.product !== id) {
    throw productMismatch({ asked: id, found: found.product, field: 'product' })
  }
  const known = Object.keys(product?.versions ?? {})
  const told = asked.version ?? null
  const version = canonical(told, known) ?? canonical(found.version, known) ?? (known.length === 1 ? known[0]! : null)
  const foundVersion = canonical(found.version, known)
  if (version !== null && foundVersion !== null && version !== foundVersion) {
    throw productMismatch({ asked: productModel(id, version), found: productModel(id, foundVersion) })
  }
  if (product !== null && version === null) throw productNeeded({ field: 'version', known })
  const expected = product?.versions[version ?? '']
  if (known.length > 0 && expected === undefined) throw productNeeded({ field: 'version', known })
  if (expected !== undefined && expected !== dims) {
    const other = known.find((one) => product!.versions[one] === dims)
    const asFound = other === undefined ? `vectors of ${dims} dimensions` : productModel(id, other)
    throw productMismatch({ asked: `${productModel(id, version)}, which has ${expected}`, found: asFound })
  }
  return { product, model: productModel(id, version) }
}

/** A version as the list of known ones spells it: `1.5` is `v1.5`, `v1` is `1.0`. */
function canonical(version: string | null, known: readonly string[]): string | null {
  if (version === null) return null
  return known.find((one) => key(one) === key(version)) ?? version
}

function key(version: string): string {
  return version
    .toLowerCase()
    .replace(/^v(?=[0-9])/, '')
    .replace(/\.0$/, '')
}
