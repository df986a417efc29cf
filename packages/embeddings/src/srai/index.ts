export type { Aggregation } from './embedders/contextual-count.ts'
export type { RegionFeature } from './embedders/count-features.ts'
export { EMBEDDER_NAMES, completeEmbedder, embedderModelName, embedderOf } from './embedders/embedder.ts'
export type {
  CompleteEmbedder,
  ContextualCountEmbedder,
  CountEmbedder,
  Hex2VecEmbedder,
  RegionEmbedder,
} from './embedders/embedder.ts'
export type { Geometry, PolygonRings, Position } from './geometry.ts'
export { CellIndex } from './join/cell-index.ts'
export { filterTags, parseOsmFilter } from './osm-filter.ts'
export type { GroupFilter, KeyFilter, OsmFilter, TagValues } from './osm-filter.ts'
export { PRESET_NAMES, osmPreset } from './presets/index.ts'
export { checkEmbedding, embedRegions } from './region-embeddings.ts'
export type { RegionEmbeddings, RegionEmbeddingsRequest } from './region-embeddings.ts'
export { openRegionRun } from './region-run.ts'
export type {
  FeatureHooks,
  FeatureModule,
  FeatureSource,
  RegionBatch,
  RegionRun,
  RegionRunOptions,
  RegionRunRequest,
  RegionSummary,
} from './region-run.ts'
export { cellPolygons, coverArea, estimateCells, guardCells } from './regions.ts'
export type { CellGuard, CoverRequest } from './regions.ts'
export type { Tags } from './tag-columns.ts'
