import { expect, test } from 'vitest'
import { productOfRaster } from './raster-product.ts'

test.for<[string, string | null]>([
  ['annual/2023/33N/x.tiff', '2023-01-01T00:00:00.000Z'],
  ['2021/2019_v2.tif', '2019-01-01T00:00:00.000Z'],
  ['annual/2023/tile_2098.tiff', '2023-01-01T00:00:00.000Z'],
  ['grid/2098/x.tiff', null],
  ['a12023b/x20191.tif', null],
])('the year of a raster is the last one of its address that has begun: %s', ([address, datetime]) => {
  expect(productOfRaster({ bands: [], tags: {} }, address).datetime).toBe(datetime)
})
