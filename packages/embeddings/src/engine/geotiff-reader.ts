import { type TileReaderOptions, createTileReader, openFileSource } from '@terrane/tiling/raster'

import type { TileReader } from './tile-source.ts'

/** Options for reading the tiles of a GeoTIFF file in a thread. */
export type GeoTiffReaderOptions = Omit<TileReaderOptions, 'source'> & { readonly path: string }

/** Opens the file in the calling thread. */
export function openTileReader({ path, ...options }: GeoTiffReaderOptions): TileReader {
  const source = openFileSource(path)
  const reader = createTileReader({ ...options, source })
  return { read: (index, out) => reader.read(index, out), close: () => source.close() }
}
