export { imageOf } from './spec.ts'
export type {
  FixtureColor,
  FixtureCompression,
  FixtureGeoreference,
  FixtureType,
  GeoTiffOptions,
  ImageSource,
} from './spec.ts'
export { streamGeoTiff, writeGeoTiff } from './write.ts'
