import { describe, expect, test } from 'vitest'
import { imageOf } from '@terrane/testing/geotiff'
import type { GeoTiffOptions } from '@terrane/testing/geotiff'
import { fixture } from '../../../test/fixtures.ts'
import { openGeoTiff } from '../geotiff/open.ts'
import type { RasterInfo } from '../raster-info.ts'
import { bufferSource } from '../source.ts'
import type { ByteSource } from '../source.ts'
import { readWindow } from '../window.ts'
import { ALL_BANDS, plainFile } from './scene.ts'
import type { Scene, SceneBand, ScenePiece } from './scene.ts'
import { openSceneFile, readPiece } from './piece-reader.ts'
import { georeferencedPlacement } from './placement.ts'
import { stackScene } from './stack.ts'
import type { PartialBand } from './stack.ts'
import { readVrt } from './vrt.ts'

type Rows = readonly (readonly number[])[]
type Place = readonly [x: number, y: number, step: number]

/** A file of one band in UTM 33, by its rows. */
async function file(rows: Rows, [x, y, step]: Place, options: Partial<GeoTiffOptions> & { epsg?: number } = {}) {
  const image = imageOf({ width: rows[0]!.length, height: rows.length, bands: 1 }, (column, row) => rows[row]![column]!)
  const { epsg = 32633, ...more } = options
  const georeference = { epsg, affine: [x, step, 0, y, 0, -step] as const }
  return (await fixture(image, { type: 'uint16', tileSize: 16, georeference, ...more })).source
}

const piece = (number: number, more: Partial<ScenePiece> = {}): ScenePiece => ({
  file: number,
  band: 0,
  place: null,
  resampling: 'bilinear',
  without: null,
  ratio: 1,
  shift: 0,
  ...more,
})
const band = (number: number, more: Partial<SceneBand> = {}): SceneBand => ({
  name: null,
  color: null,
  scale: null,
  offset: null,
  nodata: null,
  type: null,
  pieces: [piece(number)],
  ...more,
})
const scene = (bands: readonly SceneBand[], more: Partial<Scene> = {}): Scene => ({
  grid: null,
  epsg: null,
  bands,
  mask: null,
  ownMasks: true,
  tags: {},
  ...more,
})

async function stack(
  sources: readonly ByteSource[],
  of: Scene,
): Promise<{ raster: RasterInfo; bands: number[][][]; shown: number[][] | null; partial: PartialBand[] }> {
  let bytes = new Uint8Array(0)
  const write = (part: Uint8Array, position: number): void => {
    if (position + part.length > bytes.length) {
      const longer = new Uint8Array(position + part.length)
      longer.set(bytes)
      bytes = longer
    }
    bytes.set(part, position)
  }
  const partial = await stackScene(sources, of, { write })
  const source = bufferSource(bytes)
  const raster = openGeoTiff(source)
  const rect = { x: 0, y: 0, width: raster.width, height: raster.height }
  const rowsOf = (values: ArrayLike<number>): number[][] =>
    Array.from({ length: rect.height }, (_, row) => Array.from(values).slice(row * rect.width, (row + 1) * rect.width))
  const bands: number[][][] = []
  for (let i = 0; i < raster.samplesPerPixel; i++)
    bands.push(rowsOf(await readWindow(source, raster, { ...rect, band: i })))
  const mask = raster.mask && { ...raster, ...raster.mask, nodata: null }
  return { raster, bands, partial, shown: mask && rowsOf(await readWindow(source, mask, { ...rect, band: 0 })) }
}

const TENS = Array.from({ length: 6 }, (_, row) =>
  Array.from({ length: 6 }, (__, column) => 10 * (6 * row + column + 1)),
)
const CORNER: Place = [400_000, 5_500_000, 10]

describe('a scene', () => {
  test('of 10 m and 20 m comes to the finer grid, as gdalwarp does it', async () => {
    const coarse = [
      [100, 220, 340],
      [0, 460, 580],
      [700, 820, 941],
    ]
    const files = [
      await file(TENS, CORNER, { nodata: '0' }),
      await file(coarse, [400_000, 5_500_000, 20], { nodata: '0' }),
    ]
    const { raster, bands, shown } = await stack(files, scene([band(1, { name: 'B05' }), band(0, { name: 'B04' })]))
    expect(raster).toMatchObject({ width: 6, height: 6, epsg: 32_633, nodata: null, sampleType: 'uint16' })
    expect(shown).toEqual(bands[0]!.map((row) => row.map((value) => (value === 0 ? 0 : 255))))
    expect(raster.affine).toEqual([400_000, 10, 0, 5_500_000, 0, -10])
    expect(raster.bands.map(({ name }) => name)).toEqual(['B05', 'B04'])
    // gdalwarp 3.10.3 -r bilinear.
    expect(bands[0]).toEqual([
      [100, 130, 190, 250, 310, 340],
      [100, 155, 244, 310, 370, 400],
      [0, 0, 377, 430, 490, 520],
      [0, 0, 562, 580, 640, 670],
      [700, 709, 724, 760, 821, 851],
      [700, 730, 790, 850, 911, 941],
    ])
    expect(bands[1]).toEqual(TENS)
  })

  test('has a mask where a file without a nodata value ends within the grid', async () => {
    const coarse = [
      [10, 20],
      [30, 40],
    ]
    const files = [await file(TENS, CORNER), await file(coarse, [399_990, 5_500_010, 30])]
    const { raster, bands, shown } = await stack(files, scene([band(0), band(1)]))
    expect(raster.nodata).toBeNull()
    // gdalwarp 3.10.3 -r bilinear -dstnodata 0.
    expect(bands[1]).toEqual([
      [10, 13, 17, 20, 20, 0],
      [17, 20, 23, 27, 27, 0],
      [23, 27, 30, 33, 33, 0],
      [30, 33, 37, 40, 40, 0],
      [30, 33, 37, 40, 40, 0],
      [0, 0, 0, 0, 0, 0],
    ])
    expect(shown).toEqual(bands[1]!.map((row) => row.map((value) => (value === 0 ? 0 : 255))))
  })

  test('leaves out what its mask names by class or bit, by the nearest pixel', async () => {
    const classes = [
      [4, 8, 4],
      [4, 4, 0b1010],
      [3, 4, 4],
    ]
    const files = [
      await file(TENS, CORNER, { nodata: '0' }),
      await file(classes, [400_000, 5_500_000, 20], { type: 'uint8' }),
    ]
    const masked = async (values: number[], bits: number[]) =>
      (await stack(files, scene([band(0)], { mask: { file: 1, band: 0, values, bits } }))).bands[0]!.map((row) =>
        row.map((value) => (value === 0 ? '.' : 'x')).join(''),
      )
    expect(await masked([8, 3], [])).toEqual(['xx..xx', 'xx..xx', 'xxxxxx', 'xxxxxx', '..xxxx', '..xxxx'])
    expect(await masked([], [1])).toEqual(['xxxxxx', 'xxxxxx', 'xxxx..', 'xxxx..', '..xxxx', '..xxxx'])
  })

  test.each([
    ['its file, which its samples cannot hold', { nodata: '-9999' }, null],
    ['its file, not a number of integers', { nodata: 'nan' }, null],
    ['its asset, which its samples cannot hold', {}, -9999],
  ])('leaves out what its mask names whatever "no data" is: of %s', async (_, options, nodata) => {
    const files = [await file([[5, 6]], CORNER, options), await file([[1, 9]], CORNER, { type: 'uint8' })]
    const mask = { file: 1, band: 0, values: [9], bits: [] }
    expect((await stack(files, scene([band(0, { nodata })], { mask }))).shown).toEqual([[255, 0]])
  })

  test('takes a bit that is named twice once', async () => {
    const files = [await file([[5, 6, 7]], CORNER), await file([[8, 16, 1]], CORNER, { type: 'uint8' })]
    const mask = { file: 1, band: 0, values: [], bits: [3, 3] }
    expect((await stack(files, scene([band(0)], { mask }))).shown).toEqual([[0, 255, 255]])
  })

  test('leaves out a pixel that one band lacks; "no data" of a band says nothing of the others', async () => {
    const files = [await file([[5, 0, 6]], CORNER, { nodata: '0' }), await file([[0, 7, 8]], CORNER)]
    const { bands, shown } = await stack(files, scene([band(0), band(1)]))
    expect({ bands, shown }).toEqual({ bands: [[[5, 0, 6]], [[0, 7, 8]]], shown: [[255, 0, 255]] })
  })

  test('takes "no data" of its asset only where its file has none', async () => {
    const rows = [[65_535, 0, 7]]
    const stated = scene([band(0, { nodata: 0 })])
    expect((await stack([await file(rows, CORNER, { nodata: '65535' })], stated)).shown).toEqual([[0, 255, 255]])
    expect((await stack([await file(rows, CORNER)], stated)).shown).toEqual([[255, 0, 255]])
  })

  test('tells which bands end within the grid, and is refused when one lies elsewhere', async () => {
    const here = await file(TENS, CORNER)
    const east = await file(TENS, [400_030, 5_500_000, 10])
    const far = await file(TENS, [900_000, 5_500_000, 10])
    const { shown, partial } = await stack([here, east], scene([band(0), band(1, { name: 'B08' })]))
    expect(partial).toEqual([{ band: 'B08', cover: 0.5 }])
    expect(shown![0]).toEqual([0, 0, 0, 255, 255, 255])
    const elsewhere = expect.objectContaining({
      code: 'SCENE_UNUSABLE',
      message: expect.stringContaining('elsewhere') as string,
    }) as Error
    await expect(stack([here, far], scene([band(0), band(1, { name: 'B08' })]))).rejects.toEqual(elsewhere)
    const mask = { file: 1, band: 0, values: [9], bits: [] }
    await expect(stack([here, far], scene([band(0)], { mask }))).rejects.toEqual(elsewhere)
  })

  test('is refused when a band that is named has a palette', async () => {
    const palette = [[0, 0, 0], [255, 0, 0]] as never // prettier-ignore
    const colored = await file([[0, 1]], CORNER, { type: 'uint8', color: 'palette', palette })
    await expect(stack([colored], scene([band(0)]))).rejects.toMatchObject({ code: 'UNSUPPORTED_LAYOUT' })
  })

  test('of far smaller pixels is read in parts', async () => {
    const rows = Array.from({ length: 32 }, (_, y) => Array.from({ length: 32 }, (__, x) => y * 32 + x))
    const opened = openSceneFile(await file(rows, CORNER), 1 << 20)
    // Treats the raster as if it were larger.
    const raster = { ...opened.raster, width: 8192, height: 8192 }
    const grid = { width: 512, height: 512, affine: [400_000, 160, 0, 5_500_000, 0, -160] as const }
    let largest = 0
    const image: typeof opened.image = async ({ width, height }) => {
      largest = Math.max(largest, width * height)
      return new Uint16Array(width * height).fill(7)
    }
    const rect = { x: 0, y: 0, width: 512, height: 512 }
    const tile = { rect, values: new Float64Array(512 * 512), valid: new Uint8Array(512 * 512) }
    const reading = { ...piece(0, { resampling: 'nearest' }), nodata: null, ownMasks: false }
    await readPiece(
      { ...reading, file: { raster, image, mask: null }, placement: georeferencedPlacement(grid, raster) },
      tile,
    )
    expect(largest).toBeLessThanOrEqual(1 << 22)
    expect(tile.values.every((value) => value === 7)).toBe(true)
  })

  test('keeps scale and offset: what it states before what its files state', async () => {
    const bandItems = [
      { band: 0, role: 'scale', value: '0.5' },
      { band: 0, role: 'offset', value: '3' },
    ]
    const files = [await file(TENS, CORNER, { bandItems })]
    const { raster } = await stack(files, scene([band(0), band(0, { scale: 0.0001, offset: -0.1 })]))
    expect(raster.bands).toMatchObject([
      { scale: 0.5, offset: 3 },
      { scale: 0.0001, offset: -0.1 },
    ])
  })

  test('of different types gets one that holds both; where "no data" differs the mask says it', async () => {
    const files = [
      await file([[1, 0]], CORNER, { nodata: '0' }),
      await file([[-5, -9999]], CORNER, { type: 'int16', nodata: '-9999' }),
    ]
    const { raster, bands, shown } = await stack(files, scene([band(0), band(1)]))
    expect(raster).toMatchObject({ sampleType: 'int32', nodata: null })
    expect({ bands, shown }).toEqual({ bands: [[[1, 0]], [[-5, 0]]], shown: [[255, 0]] })
    const { raster: plain } = await stack(
      [await file([[1]], CORNER), await file([[-5]], CORNER, { type: 'int16' })],
      scene([band(0), band(1)]),
    )
    expect(plain.sampleType).toBe('int32')
  })

  test('is refused when its files are in different reference systems, or have no such band', async () => {
    const files = [await file(TENS, CORNER), await file(TENS, CORNER, { epsg: 32_632 })]
    await expect(stack(files, scene([band(0), band(1)]))).rejects.toMatchObject({
      code: 'SCENE_UNUSABLE',
      message: expect.stringContaining('EPSG:32632 and EPSG:32633') as string,
    })
    await expect(stack(files, scene([band(0, { pieces: [piece(0, { band: 3 })] })]))).rejects.toMatchObject({
      code: 'SCENE_UNUSABLE',
    })
  })

  test('of more bands than memory should hold is refused', async () => {
    const image = imageOf({ width: 2, height: 2, bands: 200 }, () => 1)
    const georeference = { epsg: 32633, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
    const { source } = await fixture(image, { type: 'uint8', tileSize: 16, georeference })
    const all = band(0, { pieces: [piece(0, { band: ALL_BANDS })] })
    await expect(stack([source], scene([all]))).rejects.toMatchObject({ code: 'SCENE_UNUSABLE' })
  })

  test('may have any number of files', async () => {
    const files = await Promise.all([1, 2, 3].map((value) => file([[value]], CORNER)))
    expect((await stack(files, scene([band(0), band(1), band(2)]))).bands).toEqual([[[1]], [[2]], [[3]]])
  })

  test('takes no room where nothing is', async () => {
    const grid = { width: 40_000, height: 512, affine: [400_000, 10, 0, 5_500_000, 0, -10] as const }
    let end = 0
    const place = { from: { x: 0, y: 0, width: 1, height: 1 }, to: { x: 0, y: 0, width: 1, height: 1 } }
    const write = (bytes: Uint8Array, position: number): void => void (end = Math.max(end, position + bytes.length))
    const empty = scene([band(0, { pieces: [piece(0, { place })] })], { grid, ownMasks: false })
    await stackScene([await file([[7]], CORNER)], empty, { write })
    expect(end).toBeLessThan(700_000)
  })

  test('of one whole file is that file', () => {
    const whole = band(0, { pieces: [piece(0, { band: ALL_BANDS })] })
    expect(plainFile(scene([whole]))).toBe(0)
    expect(plainFile(scene([{ ...whole, scale: 2 }]))).toBeNull()
    expect(plainFile(scene([{ ...whole, name: 'B04' }]))).toBeNull()
    expect(plainFile(scene([whole, whole]))).toBeNull()
  })
})

describe('a VRT', () => {
  const vrt = (sources: string, more = ''): string => `<VRTDataset rasterXSize="4" rasterYSize="2">
    <GeoTransform> 4.0e+05, 1.0e+01, 0, 5.5e+06, 0, -1.0e+01</GeoTransform>${more}
    <VRTRasterBand dataType="UInt16" band="1"><Description>B04</Description><NoDataValue>0</NoDataValue>${sources}</VRTRasterBand>
  </VRTDataset>`
  const rect = (name: string, [x, y, width, height]: readonly number[]): string =>
    `<${name} xOff="${x}" yOff="${y}" xSize="${width}" ySize="${height}"/>`
  const source = (kind: string, name: string, to: string, more = ''): string =>
    `<${kind}><SourceFilename relativeToVRT="1">${name}</SourceFilename><SourceBand>1</SourceBand>${rect('SrcRect', [0, 0, 2, 2])}${to}${more}</${kind}>`

  test('lays its sources over each other, without the nodata of complex ones', async () => {
    const files = [
      await file([[1, 2], [3, 4]], CORNER), // prettier-ignore
      await file([[7, 9], [9, 8]], CORNER), // prettier-ignore
    ]
    const text = vrt(
      source('SimpleSource', 'a.tif', rect('DstRect', [0, 0, 2, 2])) +
        source(
          'ComplexSource',
          'b.tif',
          rect('DstRect', [1, 0, 2, 2]),
          '<NODATA>9</NODATA><ScaleRatio>10</ScaleRatio>',
        ),
    )
    const { scene: of, files: names } = readVrt(text)
    expect(names).toEqual(['a.tif', 'b.tif'])
    const { raster, bands, shown } = await stack(files, of)
    expect(raster.bands[0]!.name).toBe('B04')
    expect(bands[0]).toEqual([
      [1, 70, 0, 0],
      [3, 4, 80, 0],
    ])
    expect(shown).toEqual(bands[0]!.map((row) => row.map((value) => (value === 0 ? 0 : 255))))
    const outside = readVrt(text.replace('<NoDataValue>0<', '<NoDataValue>-9999<'))
    expect((await stack(files, outside.scene)).shown).toEqual(shown)
  })

  const UTM = (zone: number): string =>
    `PROJCS["UTM",GEOGCS["WGS 84",AUTHORITY["EPSG","4326"]],UNIT["metre",1,AUTHORITY["EPSG","9001"]],AUTHORITY["EPSG","326${zone}"]]`
  test('is refused where it or a source is in another reference system', async () => {
    const sources = [0, 2].map((x) => source('SimpleSource', `${x}.tif`, rect('DstRect', [x, 0, 2, 2]))).join('')
    const files = [await file([[1, 2], [3, 4]], CORNER), await file([[1, 2], [3, 4]], CORNER)] // prettier-ignore
    const other = await file([[1, 2], [3, 4]], CORNER, { epsg: 32_632 }) // prettier-ignore
    const read = (srs: string) => readVrt(vrt(sources, srs && `<SRS>${srs}</SRS>`)).scene
    for (const srs of ['', 'EPSG:32633', UTM(33), 'LOCAL_CS["x"]']) {
      expect((await stack(files, read(srs))).raster.epsg).toBe(32_633)
    }
    for (const srs of ['EPSG:32632', UTM(32)]) {
      await expect(stack(files, read(srs))).rejects.toThrow('it is in EPSG:32632, its files are in EPSG:32633')
    }
    await expect(stack([files[0]!, other], read(''))).rejects.toThrow('different reference systems')
  })

  const whole = rect('DstRect', [0, 0, 4, 2])
  test('has the mask of its files, and no other', () => {
    const masked = (band_: string, name = 'a.tif'): string =>
      vrt(
        source('SimpleSource', 'a.tif', whole),
        `<MaskBand><VRTRasterBand dataType="Byte">${source('SimpleSource', name, whole).replace('<SourceBand>1', `<SourceBand>${band_}`)}</VRTRasterBand></MaskBand>`,
      )
    expect(readVrt(masked('mask,1')).scene.ownMasks).toBe(true)
    expect(() => readVrt(masked('1'))).toThrow('MaskBand')
    expect(() => readVrt(masked('mask,1', 'm.tif'))).toThrow('MaskBand')
  })

  test('whose sources lie over each other thousands of times is refused', async () => {
    const text = vrt(
      Array.from({ length: 4000 }, () => source('SimpleSource', 'a.tif', rect('DstRect', [0, 0, 4096, 4096]))).join(''),
    )
    const { scene: of } = readVrt(
      text.replace('rasterXSize="4" rasterYSize="2"', 'rasterXSize="4096" rasterYSize="4096"'),
    )
    await expect(stack([await file([[1]], CORNER)], of)).rejects.toThrow('lie over each other')
  })

  test.each([
    ['a kernel', vrt(source('KernelFilteredSource', 'a.tif', whole)), 'KernelFilteredSource'],
    ['a table of values', vrt(source('ComplexSource', 'a.tif', whole, '<LUT>0:0</LUT>')), 'LUT'],
    ['options for opening', vrt(source('SimpleSource', 'a.tif', whole, '<OpenOptions/>')), 'OpenOptions'],
    [
      'another resampling',
      vrt(source('SimpleSource', 'a.tif', whole).replace('<SimpleSource>', '<SimpleSource resampling="cubic">')),
      'cubic',
    ],
    ['a warped dataset', '<VRTDataset subClass="VRTWarpedDataset"/>', 'VRTWarpedDataset'],
    [
      'a derived band',
      vrt('').replace('<VRTRasterBand', '<VRTRasterBand subClass="VRTDerivedRasterBand"'),
      'VRTDerivedRasterBand',
    ],
    ['samples that are complex', vrt('').replace('UInt16', 'CFloat32'), 'CFloat32'],
    ['a transform without an area', vrt('').replace('1.0e+01, 0,', '0, 0,'), 'GeoTransform'],
    ['no transform', vrt('').replace(/<GeoTransform>.*<\/GeoTransform>/, ''), 'GeoTransform'],
    [
      'an entity of its own',
      `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${vrt('').replace('B04', '&x;')}`,
      'entity',
    ],
    ['broken XML', '<VRTDataset', ''],
    [
      'too many files',
      vrt(Array.from({ length: 300 }, (_, i) => source('SimpleSource', `${i}.tif`, whole)).join('')),
      '256 files',
    ],
  ])('is refused with %s', (_, text, why) => {
    expect(() => readVrt(text)).toThrow(
      expect.objectContaining({ code: 'VRT_UNUSABLE', message: expect.stringContaining(why) as string }) as Error,
    )
  })
})
