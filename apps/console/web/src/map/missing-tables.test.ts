import type { MapLayer } from '@terrane/map-style'
import { expect, test } from 'vitest'
import { withoutTable } from './missing-tables.ts'

test('layers of tables that are gone are named; rasters and embeddings are not looked for', () => {
  const layers = [
    { kind: 'vector', title: 'Parks', table: 'public.parks' },
    { kind: 'vector', title: 'Shops', table: 'public.shops' },
    { kind: 'vector', title: 'Tiles', table: 'geoembeddings.scene' },
    { kind: 'raster', title: 'Scene', url: 'storage://a/b.tif' },
  ] as MapLayer[]
  expect(withoutTable(layers, [{ name: 'public.shops' }])).toEqual([{ title: 'Parks', table: 'public.parks' }])
})
