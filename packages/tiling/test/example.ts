import { createTileReader, estimateScale, inspectGeoTiff, openFileSource } from '@terrane/tiling/raster'
import { coveredRect, footprint, tileWindow } from '@terrane/tiling/raster'

export async function printTiles(path: string, print: (line: string) => void): Promise<void> {
  using source = openFileSource(path)
  const { raster, plan, bands, crs } = inspectGeoTiff(source, { tileSize: 256, channels: ['red', 'green', 'blue'] })
  const scale = await estimateScale(source, raster, bands)
  const reader = createTileReader({ source, raster, plan, bands, scale, mean: [0.5, 0.5, 0.5], std: [0.2, 0.2, 0.2] })
  const tensor = new Float32Array(3 * 256 * 256)
  for (let index = 0; index < plan.count; index++) {
    const { validFraction } = await reader.read(index, tensor)
    const { polygons } = footprint(crs, raster.affine, coveredRect(plan, tileWindow(plan, index)))
    print(
      `tile ${index}: ${validFraction} valid, at ${polygons[0]?.[0]?.join(' ')}, first value ${tensor[0]?.toFixed(3)}`,
    )
  }
}
