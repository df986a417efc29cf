/** The keys of GeoTIFF 1.1 (OGC 19-008r4, annex B) that define a CRS. */
export const KEY = {
  modelType: 1024,
  rasterType: 1025,
  citation: 1026,
  geographicCrs: 2048,
  geographicCitation: 2049,
  datum: 2050,
  primeMeridian: 2051,
  angularUnits: 2054,
  angularUnitSize: 2055,
  ellipsoid: 2056,
  semiMajor: 2057,
  semiMinor: 2058,
  inverseFlattening: 2059,
  primeMeridianLng: 2061,
  projectedCrs: 3072,
  projectedCitation: 3073,
  projection: 3074,
  method: 3075,
  linearUnits: 3076,
  linearUnitSize: 3077,
  standardParallel1: 3078,
  standardParallel2: 3079,
  naturalOriginLng: 3080,
  naturalOriginLat: 3081,
  falseEasting: 3082,
  falseNorthing: 3083,
  falseOriginLng: 3084,
  falseOriginLat: 3085,
  falseOriginEasting: 3086,
  falseOriginNorthing: 3087,
  centerLng: 3088,
  centerLat: 3089,
  centerEasting: 3090,
  centerNorthing: 3091,
  scaleAtNaturalOrigin: 3092,
  scaleAtCenter: 3093,
  straightVerticalPole: 3095,
  verticalCrs: 4096,
} as const

/** Numbers of keys, by the key. */
export type GeoNumbers = Readonly<Record<number, number>>

/** Key value for a user-defined system, whose parameters are in other keys. */
export const USER_DEFINED = 32767
