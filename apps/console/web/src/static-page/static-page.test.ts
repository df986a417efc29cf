import { gunzipSync } from 'fflate'
import { PMTiles, type RangeResponse, type Source } from 'pmtiles'
import { expect, test } from 'vitest'
import { collectTiles } from './collect-tiles.ts'
import { packArchive } from './pack-archive.ts'

const BOUNDS = [6, 49, 7, 50] as const

/** A source in memory, for the reference reader. */
function memory(parts: readonly Uint8Array<ArrayBuffer>[]): Source {
  const whole = new Blob([...parts])
  return {
    getKey: () => 'memory',
    getBytes: async (offset, length): Promise<RangeResponse> => ({
      data: await whole.slice(offset, offset + length).arrayBuffer(),
    }),
  }
}

test('tiles beneath an empty tile are not requested, and a zoom that is too large is left out', async () => {
  const asked: string[] = []
  const read = (zoom: number, x: number, y: number) => {
    asked.push(`${zoom}/${x}/${y}`)
    return Promise.resolve(zoom > 2 && x % 2 === 0 ? null : Uint8Array.of(zoom, x, y))
  }
  const { tiles, maxZoom } = await collectTiles(read, { bounds: BOUNDS, zooms: [0, 14], most: 8 }, () => {})
  expect(asked.slice(0, 4)).toEqual(['0/0/0', '1/1/0', '2/2/1', '3/4/2'])
  expect([maxZoom, tiles.size]).toEqual([3, 3])
  asked.length = 0
  const all = await collectTiles(
    (zoom, x, y) => Promise.resolve(Uint8Array.of(zoom, x, y)),
    {
      bounds: [-180, -85, 180, 85],
      zooms: [0, 14],
      most: 25,
    },
    () => {},
  )
  expect([all.maxZoom, all.tiles.size]).toEqual([2, 21])
})

test('an archive of any size gives the reference reader its tiles', async () => {
  const read = (zoom: number, x: number, y: number) =>
    Promise.resolve(new TextEncoder().encode(`${zoom}/${x}/${y} ${(x * 7919 + y * 104_729) % 1000}`))
  const { tiles, maxZoom } = await collectTiles(
    read,
    { bounds: [-180, -85, 180, 85], zooms: [0, 7], most: 30_000 },
    () => {},
  )
  expect(maxZoom).toBe(7)
  const parts = packArchive(tiles, { tiles: 'mvt', zooms: [0, 7], bounds: [-180, -85, 180, 85], layers: ['roads'] })
  const archive = new PMTiles(memory(parts))
  expect(await archive.getHeader()).toMatchObject({ minZoom: 0, maxZoom: 7, tileType: 1, clustered: true })
  expect(await archive.getMetadata()).toEqual({ vector_layers: [{ id: 'roads', fields: {} }] })
  for (const [z, x, y] of [
    [0, 0, 0],
    [7, 127, 127],
    [5, 17, 9],
    [7, 64, 3],
  ] as const) {
    const found = new TextDecoder().decode((await archive.getZxy(z, x, y))?.data)
    expect(found).toMatch(new RegExp(`^${z}/${x}/${y} `))
  }
})

test('pictures are stored as they are', async () => {
  const picture = Uint8Array.of(1, 2, 3)
  const parts = packArchive(new Map([[0, picture]]), { tiles: 'webp', zooms: [0, 0], bounds: BOUNDS, layers: [] })
  expect(parts.at(-1)).toEqual(picture)
  expect(new TextDecoder().decode(gunzipSync(parts[2]!))).toBe('{}')
})
