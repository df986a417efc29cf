import type { FeatureReader } from '../feature-stream.ts'
import type { ReadRequest } from './protocol.ts'

const WGS84 = 4326

/** Opens a data set with the reader of its format. Only that one is loaded: the libraries of all take half a second. */
export async function openReader(request: ReadRequest): Promise<FeatureReader> {
  const reader = await openFormat(request)
  if (request.columnTypes === undefined) return reader
  return (await import('./asked-types.ts')).withTypes(reader, request.columnTypes)
}

async function openFormat(request: ReadRequest): Promise<FeatureReader> {
  switch (request.format) {
    case 'GPKG': {
      const reader = (await import('./gpkg.ts')).openGpkg(request)
      return request.isWorkbook ? withPoints(reader, request) : reader
    }
    case 'SQLite':
      return (await import('./spatialite.ts')).openSpatialite(request.path)
    case 'GeoJSON':
    case 'GeoJSONSeq':
      return (await import('./geojson.ts')).openGeoJson(request.path)
    case 'CSV':
      return (await import('./csv.ts')).openCsv(request)
    case 'KML':
      return (await import('./kml.ts')).openKml(request.path)
    case 'GPX':
      return (await import('./gpx.ts')).openGpx(request.path)
    case 'FlatGeobuf':
      return (await import('./flatgeobuf.ts')).openFlatGeobuf(request.path)
    case 'ESRI Shapefile':
      return (await import('./shapefile.ts')).openShapefile(request)
    case 'Parquet':
      return withPoints(await (await import('./parquet.ts')).openParquet(request), request)
    case 'Arrow':
      return withPoints(await (await import('./arrow.ts')).openArrow(request), request)
  }
}

/** Coordinates of tables whose format has no geometry. */
async function withPoints(reader: FeatureReader, { csv = {}, srid = WGS84 }: ReadRequest): Promise<FeatureReader> {
  return (await import('./point-layers.ts')).pointLayers(reader, csv, srid)
}
