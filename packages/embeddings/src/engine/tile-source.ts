/** Reads tiles as normalised tensors. A reader belongs to one thread, which makes one call at a time. */
export interface TileReader {
  /**
   * Writes tile `index` into `out` as `[channels, height, width]`; `out` may lie in a SharedArrayBuffer. Resolves to
   * the share of the tile with data, from 0 to 1.
   */
  read(
    index: number,
    out: Float32Array,
  ): { readonly validFraction: number } | PromiseLike<{ readonly validFraction: number }>
  close?(): void
}

/**
 * Tiles that each inference thread reads by itself: the thread imports `module` and calls its export
 * `openTileReader(options)`. All members are plain data.
 */
export interface TileSource {
  /** URL of the module. */
  readonly module: string
  /** Input of `openTileReader`; must survive `structuredClone`. */
  readonly options: unknown
  /** Number of tiles; they are numbered from 0. */
  readonly count: number
  /** Number of consecutive tiles that share decoded blocks and are best read by one thread; default 1. */
  readonly bandTiles?: number
}

/** Opens a source's reader in the calling thread. */
export async function openTileReader(source: TileSource): Promise<TileReader> {
  const module: unknown = await import(source.module)
  if (!isReaderModule(module)) throw new TypeError(`${source.module} has no function openTileReader`)
  return module.openTileReader(source.options)
}

interface ReaderModule {
  openTileReader(options: unknown): TileReader | Promise<TileReader>
}

function isReaderModule(module: unknown): module is ReaderModule {
  return typeof module === 'object' && module !== null && 'openTileReader' in module
}
