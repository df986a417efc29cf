export { imageOf } from './spec.ts'
export type {
  FixtureColor,
  FixtureCompression,
  FixtureGeoreference,
  FixtureType,
  GeoTiffOptions,
  ImageSource,
} from './spec.ts'
export { textureImage } from './texture.ts'
export type { TextureOptions } from './texture.ts'
export { streamGeoTiff, writeGeoTiff } from './write.ts'
export { decodePicture } from './decode-picture.ts'
