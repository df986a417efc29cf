import type { FeatureReader } from '../feature-stream.ts'
import { openArrow } from './arrow.ts'
import { openCsv } from './csv.ts'
import { openGeoJson } from './geojson.ts'
import { openGpkg } from './gpkg.ts'
import { openKml } from './kml.ts'
import { openParquet } from './parquet.ts'
import type { ReadRequest } from './protocol.ts'

/** Opens a data set with the reader of its format. */
export function openReader(request: ReadRequest): FeatureReader | Promise<FeatureReader> {
  switch (request.format) {
    case 'GPKG':
      return openGpkg(request.path, request.logical)
    case 'GeoJSON':
    case 'GeoJSONSeq':
      return openGeoJson(request.path)
    case 'CSV':
      return openCsv(request)
    case 'KML':
      return openKml(request.path)
    case 'Parquet':
      return openParquet(request.path)
    case 'Arrow':
      return openArrow(request.path)
  }
}
