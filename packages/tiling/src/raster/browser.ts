/**
 * The raster reader for browsers: the part of `@terrane/tiling/raster` without file system and threads. A file is
 * passed as bytes (`bufferSource(new Uint8Array(await file.arrayBuffer()))`); WEBP blocks are refused with
 * `CORRUPT_TILE`.
 */
export { inspectGeoTiff } from './inspect.ts'
export type { InspectRequest, InspectedRaster, Notice } from './inspect.ts'
export { coveredRect, planTiles, tileWindow } from './plan.ts'
export type { EdgePolicy, PixelRect, PlanRequest, TilePlan, TileWindow } from './plan.ts'
export { estimateScale } from './scale.ts'
export type { Ranges, Scale } from './scale.ts'
export { createTileReader } from './tile-reader.ts'
export type { TileReader, TileReaderOptions, TileReading } from './tile-reader.ts'
export { footprint } from './footprint/footprint.ts'
export type { Footprint } from './footprint/footprint.ts'
export { createCrsCatalogue } from './crs/catalogue.ts'
export { openGeoTiff } from './geotiff/open.ts'
export { readWindow } from './window.ts'
export { bufferSource } from './source.ts'
export type { ByteSource } from './source.ts'
export type { Affine, BandInfo, RasterCrs, RasterInfo, SampleType, Samples } from './raster-info.ts'
