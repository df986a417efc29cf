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

const WORLD = [-180, -85, 180, 85] as const
const SMALL = { bounds: BOUNDS, zooms: [0, 14], isSparse: true, most: 400, mostBytes: 1e6 } as const

test('a zoom that is too large is left out, which is said', async () => {
  const read = (zoom: number, x: number, y: number) => Promise.resolve(Uint8Array.of(zoom, x, y))
  for (const limit of [{ most: 25 }, { mostBytes: 70 }]) {
    const { tiles, ...told } = await collectTiles(read, { ...SMALL, bounds: WORLD, ...limit }, () => {})
    expect([tiles.size, told]).toEqual([21, { maxZoom: 2, isWhole: false }])
  }
  // Nor is a list of all tiles of the world made at zoom 20.
  const deep = await collectTiles(read, { ...SMALL, bounds: WORLD, zooms: [20, 22] }, () => {})
  expect(deep).toEqual({ tiles: new Map(), maxZoom: null, isWhole: false })
})

test('only sparse layers have nothing beneath an empty tile: others leave out what is small', async () => {
  for (const isSparse of [true, false]) {
    const asked: string[] = []
    const read = (zoom: number, x: number, y: number) => {
      asked.push(`${zoom}/${x}/${y}`)
      return Promise.resolve(zoom < 12 ? null : Uint8Array.of(1))
    }
    const bounds = [6.1, 49.1, 6.11, 49.11] as const
    const { tiles, ...told } = await collectTiles(read, { ...SMALL, bounds, isSparse }, () => {})
    expect(told).toEqual({ maxZoom: 14, isWhole: true })
    expect([isSparse, asked[0], asked.length > 14, tiles.size > 2]).toEqual([isSparse, '0/0/0', !isSparse, !isSparse])
  }
})

test('after an error no further tile is requested', async () => {
  let asked = 0
  const read = () => (++asked > 3 ? Promise.reject(new Error('gone')) : Promise.resolve(Uint8Array.of(1)))
  await expect(collectTiles(read, { ...SMALL, bounds: WORLD, zooms: [4, 4] }, () => {})).rejects.toThrow('gone')
  expect(asked).toBeLessThan(20)
})

test('an archive of any size gives the reference reader its tiles', async () => {
  const read = (zoom: number, x: number, y: number) =>
    Promise.resolve(new TextEncoder().encode(`${zoom}/${x}/${y} ${(x * 7919 + y * 104_729) % 1000}`))
  const { tiles, maxZoom } = await collectTiles(
    read,
    { ...SMALL, bounds: WORLD, zooms: [0, 7], most: 30_000 },
    () => {},
  )
  expect(maxZoom).toBe(7)
  const parts = packArchive(tiles, { tiles: 'mvt', zooms: [0, 7], bounds: WORLD, layers: ['roads'] })
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
