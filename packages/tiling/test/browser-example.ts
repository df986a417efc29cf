import { bufferSource, createTileReader, estimateScale, inspectGeoTiff } from '@terrane/tiling/browser'

/** Mean value of the first band in each tile of a file that was dropped on a page: `tileMeans(new Uint8Array(await file.arrayBuffer()))`. */
export async function tileMeans(bytes: Uint8Array): Promise<number[]> {
  const source = bufferSource(bytes)
  const { raster, plan, bands } = inspectGeoTiff(source, { tileSize: 64, bands: [0], channels: ['gray'] })
  const scale = await estimateScale(source, raster, bands)
  const reader = createTileReader({ source, raster, plan, bands, scale, mean: [0], std: [1] })
  const tensor = new Float32Array(64 * 64)
  const means: number[] = []
  for (let index = 0; index < plan.count; index++) {
    await reader.read(index, tensor)
    means.push(tensor.reduce((sum, value) => sum + value, 0) / tensor.length)
  }
  return means
}
