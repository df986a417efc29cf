import { expect, test } from 'vitest'
import { previewLayer, rasterTitle } from './new-layer.ts'

const points = (count: number): GeoJSON.Feature[] =>
  Array.from({ length: count }, (_, i) => ({
    type: 'Feature',
    properties: { name: `place ${i}` },
    geometry: { type: 'Point', coordinates: [i * 0.001, 49] },
  }))

test('a layer of many features has no outlines, also in one colour', async () => {
  const many = await previewLayer('public.places', points(5001))
  expect(many).toMatchObject({ color: { by: 'one' }, outline: { width: 0 } })
  expect(await previewLayer('public.places', points(5000))).toMatchObject({ outline: { width: 0.8 } })
})

test('the layer of a raster has the name of its file without the ending', () => {
  const titles = ['storage://uploads/dem.tif', 'storage://uploads/2026/My_Scene.TIFF', 'embeddings://old_tiles'].map(
    rasterTitle,
  )
  expect(titles).toEqual(['dem', 'My Scene', 'old tiles'])
  // Only the ending of the format is removed, and a name is never empty.
  expect(['storage://a/v1.2.tif', 'storage://a/.tif'].map(rasterTitle)).toEqual(['v1.2', '.tif'])
})
