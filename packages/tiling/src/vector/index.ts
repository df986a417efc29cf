export { buildPmtiles } from './build-pmtiles.ts'
export type { TilerOptions, TilerResult } from './build-pmtiles.ts'
export type { AttributeValue, FeatureBatch } from './features/feature-batch.ts'
export type { OpenScratch, ScratchFile } from './spill/scratch.ts'
