import type { RasterCrs } from '../raster-info.ts'

/** Finds the definition of a CRS by its EPSG code. */
export interface CrsCatalogue {
  find(epsg: number): RasterCrs | null
}
