import { expect, test } from 'vitest'
import { previewLayer } from './new-layer.ts'

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
