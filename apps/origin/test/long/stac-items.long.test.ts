import {
  STAC_CASES,
  gdalPython,
  serveFiles,
  stacFiles,
  stackByGdal,
  type FileServer,
} from '@terrane/testing/stac-items'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from '../harness.ts'

const python = gdalPython()
let origin: TestOrigin
let server: FileServer

test.skipIf(python)('SKIPPED: no Python with GDAL and NumPy (GDAL_PYTHON)', () => {
  expect(python).toBe(null)
})

describe.runIf(python)('items of public catalogues are drawn as gdalwarp makes them of their files', () => {
  beforeAll(async () => {
    server = await serveFiles()
    origin = await openOrigin({ TERRANE_TILE_THREADS: '1', TERRANE_FETCH_ALLOW_HOSTS: server.host })
  })
  afterAll(async () => {
    await origin[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  /** Values of the whole grid as NumPy's rows; the last plane is the mask. */
  async function read(path: string, query: URLSearchParams): Promise<{ shape: number[]; planes: Float64Array[] }> {
    const headers = { apikey: origin.keys.service, authorization: `Bearer ${origin.keys.service}` }
    const response = await fetch(`${origin.url}/raster/v1/${path}?${query.toString()}`, { headers })
    if (response.status !== 200) throw new Error(await response.text())
    const bytes = new Uint8Array(await response.arrayBuffer())
    const head = Buffer.from(bytes.subarray(10, 10 + new DataView(bytes.buffer).getUint16(8, true))).toString('latin1')
    const shape = /\(([\d, ]+)\)/.exec(head)![1]!.split(',').map(Number)
    const type = /'descr': '([^']+)'/.exec(head)![1]!
    const data = bytes.slice(10 + new DataView(bytes.buffer).getUint16(8, true)).buffer
    const Kind = { '|u1': Uint8Array, '<u2': Uint16Array, '<i2': Int16Array, '<f4': Float32Array, '<f8': Float64Array, '<i4': Int32Array }[type]! // prettier-ignore
    const all = new Kind(data)
    const plane = shape[1]! * shape[2]!
    return { shape, planes: Array.from({ length: shape[0]! }, (_, i) => Float64Array.from(all.subarray(i * plane, (i + 1) * plane))) } // prettier-ignore
  }

  test.each(STAC_CASES.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    server.files.clear()
    const files = await stacFiles(one)
    for (const [name, bytes] of files) server.files.set(`/${name}`, bytes)
    const item = JSON.stringify(one.item).replaceAll('https://FILES', `http://${server.host}`)
    server.files.set('/item.json', Buffer.from(item))
    const gdal = stackByGdal(python!, { bands: one.bands }, files)
    const { width, height, affine: a } = gdal
    const box = [a[0], a[3] + height * a[5], a[0] + width * a[1], a[3]].join()
    const query = new URLSearchParams({ url: `http://${server.host}/item.json`, resampling: 'bilinear' })
    query.set('coord_crs', `EPSG:${gdal.epsg}`)
    query.set('dst_crs', `EPSG:${gdal.epsg}`)
    for (const name of one.assets) query.append('assets', name)
    for (let band = 1; band <= gdal.bands.length; band++) query.append('bidx', `${band}`)
    const { shape, planes } = await read(`bbox/${box}/${width}x${height}.npy`, query)
    expect(shape).toEqual([gdal.bands.length + 1, height, width])
    const shown = planes.at(-1)!
    const isOneFile = files.size === 1
    const isValid = (i: number) => gdal.bands.every(({ valid }) => valid[i] === 1)
    const pixels = Array.from({ length: width * height }, (_v, i) => i)
    const missed = pixels.filter((i) => (shown[i] !== 0) !== isValid(i))
    if (!isOneFile || gdal.bands.length === 1) expect(missed).toEqual([])
    for (const [band, wanted] of gdal.bands.entries()) {
      const off = (i: number) => Math.abs(planes[band]![i]! - wanted.values[i]!)
      const worst = Math.max(...pixels.filter(isValid).map(off))
      expect({ band, worst }).toEqual({ band, worst: wanted.resampled ? expect.toSatisfy((d) => d <= 1) : 0 })
    }
    query.set('unscale', 'true')
    const physical = await read(`bbox/${box}/${width}x${height}.npy`, query)
    for (const [band, wanted] of gdal.bands.entries()) {
      const { scale = wanted.scale ?? 1, offset = wanted.offset ?? 0 } = one.bands[band]!
      const off = (i: number) => Math.abs(physical.planes[band]![i]! - (wanted.values[i]! * scale + offset))
      const worst = Math.max(...pixels.filter(isValid).map(off))
      expect({ band, isNear: worst <= (wanted.resampled ? 1 : 1e-4) * Math.max(scale, 1e-3) }).toEqual({
        band,
        isNear: true,
      })
    }
  })
})
