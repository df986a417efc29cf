export { inspectGeoTiff } from './inspect.ts'
export type { InspectRequest, InspectedRaster, Notice } from './inspect.ts'
export type { Guard } from './errors.ts'
export { coveredRect, planTiles, tileWindow } from './plan.ts'
export type { EdgePolicy, PixelRect, PlanRequest, TilePlan, TileWindow } from './plan.ts'
export { checkScale, estimateScale } from './scale.ts'
export type { Ranges, Scale } from './scale.ts'
export { clampedShares } from './clamped.ts'
export { settleScale } from './settle-scale.ts'
export type { ModelUnit, ScaleRequest } from './settle-scale.ts'
export { checkProfile } from './profile/find-profile.ts'
export { createTileReader } from './tile-reader.ts'
export type { TileReader, TileReaderOptions, TileReading } from './tile-reader.ts'
export { footprint } from './footprint/footprint.ts'
export type { Footprint } from './footprint/footprint.ts'
export type { Position } from './footprint/outline.ts'
export { splitAtAntimeridian } from './footprint/split.ts'
export type { RenderResampling } from './render/layer.ts'
export { RESAMPLINGS } from './render/layer.ts'
export type { WantedSize } from './render/view.ts'
export { boundsBetween, lngLatBoxOf, toLngLat } from './crs/bounds.ts'
export type { CrsBounds } from './crs/bounds.ts'
export { COLORMAPS, colorsOf, namedColormap } from './render/colormap.ts'
export type { Colormap, Rgba } from './render/colormap.ts'
export type { Picture } from './render/paint.ts'
export { readDrawn } from './render/drawn.ts'
export type { Drawn } from './render/drawn.ts'
export { openRenderer } from './render/renderer.ts'
export type { RasterRenderer, RasterSummary } from './render/renderer.ts'
export type { RenderStyle } from './render/style.ts'
export { RenderPool, imageOfFile } from './render/thread/render-pool.ts'
export type { RasterFile, RasterImage } from './render/thread/render-pool.ts'
export type {
  ImagePart,
  ImagePlan,
  PictureFormat,
  PointValues,
  RasterStatistics,
  RenderRequest,
} from './render/thread/messages.ts'
export type { BandStatistics, StatisticsOptions } from './render/values/statistics.ts'
export { algorithmFacts } from './render/values/algorithms.ts'
export type { AlgorithmFacts, AlgorithmParameters } from './render/values/algorithms.ts'
export type { Shape } from './render/values/shape.ts'
export { MAX_PARTS } from './render/mosaic-layer.ts'
export type { PixelSelection } from './render/mosaic-layer.ts'
export type { LngLatBox } from './render/extent.ts'
export type { RasterDescription } from './render/describe.ts'
export type { ByteSpan } from './render/blocks.ts'
export { TILE_SETS, tileView, wholeView } from './render/view.ts'
export type { TileSet, View } from './render/view.ts'
export { createCrsCatalogue } from './crs/catalogue.ts'
export type { CrsCatalogue, CrsEntry } from './crs/catalogue.ts'
export { pngToGeoTiff } from './png-to-geotiff.ts'
export type { ValueLine } from './png-to-geotiff.ts'
export { emptyCodes, encodeClassCog } from './geotiff/class-cog.ts'
export type { ClassRaster } from './geotiff/class-cog.ts'
export { openGeoTiff } from './geotiff/open.ts'
export { readWindow } from './window.ts'
export { openFileSource } from './file-source.ts'
export type { FileSource } from './file-source.ts'
export { bufferSource } from './source.ts'
export type { ByteSource } from './source.ts'
export type {
  Affine,
  BandColor,
  BandInfo,
  ColorModel,
  Compression,
  RasterCrs,
  RasterInfo,
  RasterLevel,
  SampleType,
  Samples,
} from './raster-info.ts'
export { Pool } from './pool/pool.ts'
export type { PixelBlock, Statistic, ValueRule } from './pool/pool.ts'
export { poolGeoTiff } from './pool/pool-geotiff.ts'
export type { PoolRequest } from './pool/pool-geotiff.ts'
export { toPixels } from './pool/to-pixels.ts'
export { areaZones, tileZones } from './pool/zones.ts'
export type { PixelRing, Zones } from './pool/zones.ts'
