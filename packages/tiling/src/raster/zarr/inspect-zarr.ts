import { inspectRaster, type InspectedRaster, type InspectRequest } from '../inspect.ts'
import { describeZarr } from './describe.ts'
import type { ZarrRaster } from './find.ts'
import { atYear } from './moment.ts'

/**
 * Checks the raster of a store like `inspectGeoTiff`. The folder has the metadata and coordinates of the store.
 *
 * @param datetime in the year that is read of an array of several dates
 * @returns the raster, and the arrays at that date
 * @throws ZARR_UNUSABLE, NO_GEOREFERENCE, UNSUPPORTED_CRS, CRS_NEEDS_GRID
 */
export async function inspectZarr(
  folder: string,
  found: ZarrRaster,
  { datetime = null, ...request }: InspectRequest & { readonly datetime?: string | null },
): Promise<{ readonly zarr: ZarrRaster; readonly inspected: InspectedRaster }> {
  const zarr = await atYear(folder, found, datetime)
  return { zarr, inspected: inspectRaster(await describeZarr(folder, zarr), request) }
}
