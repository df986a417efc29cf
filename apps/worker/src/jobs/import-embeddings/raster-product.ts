import type { ProductName } from '@terrane/embeddings/products'
import type { RasterInfo } from '@terrane/tiling/raster'

/** Product metadata of a raster. */
export interface RasterProduct extends ProductName {
  /** Begin of the year of the vectors; null when it is unknown. */
  readonly datetime: string | null
}

/** The product of a raster by the names of its bands and its tags, and its year by a tag or a folder of its address. */
export function productOfRaster({ bands, tags }: Pick<RasterInfo, 'bands' | 'tags'>, address: string): RasterProduct {
  const version = tags['TESSERA_DATASET_VERSION']
  const year = tags['TESSERA_YEAR'] ?? yearOf(address)
  const datetime = year !== null && /^[0-9]{4}$/.test(year) ? `${year}-01-01T00:00:00.000Z` : null
  if (version !== undefined) return { product: 'tessera', version, datetime }
  const isAlphaEarth = bands.length === 64 && bands.every(({ name }, i) => name === `A${String(i).padStart(2, '0')}`)
  return { product: isAlphaEarth ? 'alphaearth' : null, version: null, datetime }
}

/** The last folder or part of a name that is a year of satellite imagery, and not in the future. */
function yearOf(address: string): string | null {
  const years = address.match(/(?<![0-9])(?:19[89][0-9]|20[0-9]{2})(?![0-9])/g)
  return years?.findLast((year) => Number(year) <= new Date().getUTCFullYear()) ?? null
}
