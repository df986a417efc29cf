import { inflateSync } from 'node:zlib'
import { TerraneError } from '@terrane/core'
import {
  bufferSource,
  coveredRect,
  createCrsCatalogue,
  createTileReader,
  estimateScale,
  footprint,
  openGeoTiff,
  planTiles,
  readWindow,
  tileWindow,
} from '../../src/raster/index.ts'
import type { Affine, ByteSource, RasterInfo, RasterLevel, Samples } from '../../src/raster/index.ts'

/** One line of `gdal-rasters.py`: a file, how it was made, and what GDAL reads of it. */
export interface Line {
  readonly number: number
  readonly spec: Readonly<Record<string, string | number>>
  /** The fields that were changed afterwards. */
  readonly changes?: readonly string[]
  readonly file: string
  /** Null where GDAL refuses it. */
  readonly gdal: GdalReading | null
}

export interface GdalReading {
  readonly width: number
  readonly height: number
  readonly compression: string | null
  readonly bands: readonly {
    readonly type: string
    readonly color: string
    readonly scale: number | null
    readonly offset: number | null
    readonly nodata: number | string | null
    readonly samples: string | null
    readonly valid: string | null
  }[]
  readonly palette: readonly (readonly [number, number, number])[] | null
  readonly transform: readonly number[] | null
  readonly epsg: string | null
  readonly corners: readonly (readonly [number, number] | null)[] | null
  readonly points: number
  readonly overviews: readonly { readonly width: number; readonly height: number; readonly samples: string | null }[]
}

/** Result of reading a file: like GDAL when `differences` is empty, or refused with a code. */
export interface Outcome {
  readonly refused: string | null
  readonly differences: readonly string[]
}

export function bytesOf(text: string): Uint8Array {
  return new Uint8Array(inflateSync(Buffer.from(text, 'base64')))
}

/**
 * Compares headers, every sample of every band and overview, valid pixels of tiles and the footprint's corners; or only
 * the layout and the samples of the bands.
 */
export async function compareWithGdal(
  bytes: Uint8Array,
  gdal: GdalReading,
  parts: 'all' | 'pixels' = 'all',
): Promise<Outcome> {
  const source = bufferSource(bytes)
  const found: string[] = []
  const report = (what: string, ours: unknown, theirs: unknown): void => {
    if (!Object.is(ours, theirs)) found.push(`${what}: ${String(ours)} instead of ${String(theirs)}`)
  }
  try {
    const raster = openGeoTiff(source)
    compareLayout(raster, gdal, report)
    if (parts === 'all') compareHeaders(raster, gdal, report)
    if (found.length > 0) return { refused: null, differences: found }
    for (const [band, expected] of gdal.bands.entries()) {
      const window = { x: 0, y: 0, width: raster.width, height: raster.height, band }
      const samples = await readWindow(source, raster, window)
      const wanted = samplesOf(raster, bytesOf(expected.samples ?? ''))
      report(`band ${band}`, difference(samples, wanted, raster), null)
    }
    if (parts === 'pixels') return { refused: null, differences: found }
    for (const [index, { samples }] of gdal.overviews.entries()) {
      const overview = { ...raster, ...(raster.overviews[index] as RasterLevel) }
      const window = { x: 0, y: 0, width: overview.width, height: overview.height, band: 0 }
      const read = await readWindow(source, overview, window)
      report(`overview ${index}`, difference(read, samplesOf(raster, bytesOf(samples ?? '')), raster), null)
    }
    for (const [band, { valid }] of gdal.bands.entries()) {
      await compareTiles(source, raster, { band, valid: bytesOf(valid ?? '') }, report)
    }
    compareCorners(raster, gdal, report)
    return { refused: null, differences: found }
  } catch (error) {
    if (!(error instanceof TerraneError)) throw error
    return { refused: `${error.code}: ${error.message}`, differences: found }
  }
}

type Report = (what: string, ours: unknown, theirs: unknown) => void

function compareLayout(raster: RasterInfo, gdal: GdalReading, report: Report): void {
  report('size', `${raster.width} ${raster.height}`, `${gdal.width} ${gdal.height}`)
  report('bands', raster.samplesPerPixel, gdal.bands.length)
  report('type', raster.sampleType, gdal.bands[0]?.type.toLowerCase().replace('byte', 'uint8'))
}

function compareHeaders(raster: RasterInfo, gdal: GdalReading, report: Report): void {
  const first = gdal.bands[0]
  const nodata = first?.nodata ?? null
  const held = (value: number): number => (raster.sampleType === 'float32' ? Math.fround(value) : value)
  report('nodata', raster.nodata && held(raster.nodata), nodata && held(Number(nodata)))
  // GDAL lists the two shades of a bitmap as a palette.
  const bitmap = raster.bitsPerSample === 1 && raster.palette === null
  const colors = gdal.bands.map(({ color }) => color)
  if (raster.palette === null && !bitmap) report('colors', raster.bands.map(({ color }) => color).join(), colors.join())
  else if (!bitmap) report('colors', 'palette', colors.join())
  gdal.bands.forEach(({ scale, offset }, band) => {
    if (raster.palette !== null) return
    report(`scale ${band}`, raster.bands[band]?.scale, scale ?? 1)
    report(`offset ${band}`, raster.bands[band]?.offset, offset ?? 0)
  })
  if (raster.color !== 'gray-inverted' && !bitmap)
    report('palette', raster.palette?.join() ?? null, gdal.palette?.flat().join() ?? null)
  report('affine', worstOf(raster.affine, gdal.transform), null)
  // A code that GDAL finds by comparing definitions is not stored: such files are refused by name.
  if (raster.epsg !== null && raster.affine !== null) report('epsg', raster.epsg, Number(gdal.epsg))
  report('control points', raster.groundControlPoints, gdal.points)
  const sizes = gdal.overviews.map(({ width, height }) => `${width}x${height}`).join()
  report('overviews', raster.overviews.map(({ width, height }) => `${width}x${height}`).join(), sizes)
}

function worstOf(affine: Affine | null, transform: readonly number[] | null): string | null {
  if (affine === null && transform === null) return null
  const off = Math.max(...[0, 1, 2, 3, 4, 5].map((i) => Math.abs((affine?.[i] ?? NaN) - (transform?.[i] ?? NaN))))
  return off < 1e-9 * Math.max(...(transform ?? []).map(Math.abs)) ? null : `${affine?.join()} for ${transform?.join()}`
}

function samplesOf(raster: RasterInfo, { buffer, byteOffset, byteLength }: Uint8Array): Samples {
  switch (raster.sampleType) {
    case 'uint8':
      return new Uint8Array(buffer, byteOffset, byteLength)
    case 'int8':
      return new Int8Array(buffer, byteOffset, byteLength)
    case 'uint16':
      return new Uint16Array(buffer, byteOffset, byteLength / 2)
    case 'int16':
      return new Int16Array(buffer, byteOffset, byteLength / 2)
    case 'uint32':
      return new Uint32Array(buffer, byteOffset, byteLength / 4)
    case 'int32':
      return new Int32Array(buffer, byteOffset, byteLength / 4)
    case 'float32':
      return new Float32Array(buffer, byteOffset, byteLength / 4)
    case 'float64':
      return new Float64Array(buffer, byteOffset, byteLength / 8)
  }
}

/** Null for equal samples; lossy pictures may differ by rounding, their mean by 0.2. */
function difference(ours: Samples, theirs: Samples, { compression }: RasterInfo): string | null {
  if (ours.length !== theirs.length) return `${ours.length} samples instead of ${theirs.length}`
  const lossy = compression === 'jpeg' || compression === 'webp'
  let first = -1
  let unequal = 0
  let sum = 0
  let worst = 0
  for (let i = 0; i < ours.length; i++) {
    const [a, b] = [ours[i] as number, theirs[i] as number]
    sum += a - b
    if (a === b || (Number.isNaN(a) && Number.isNaN(b))) continue
    worst = Math.max(worst, Math.abs(a - b))
    if (first === -1) first = i
    unequal++
  }
  if (unequal === 0 || (lossy && (worst <= 1 || Math.abs(sum / ours.length) < 0.2))) return null
  return `${unequal} of ${ours.length} differ, by up to ${worst}, first ${first}: ${ours[first]} for ${theirs[first]}`
}

/** Tiles of an odd size over the raster: the share of valid pixels, and the value of each. */
async function compareTiles(
  source: ByteSource,
  raster: RasterInfo,
  { band, valid }: { readonly band: number; readonly valid: Uint8Array },
  report: Report,
): Promise<void> {
  const { width, height, nodata, compression } = raster
  const plan = planTiles({ width, height, tileSize: 37 })
  const scale = await estimateScale(source, raster, [band], [-1000, 1000])
  const reader = createTileReader({ source, raster, plan, bands: [band], scale, mean: [0], std: [1] })
  const out = new Float32Array(37 * 37)
  for (let index = 0; index < plan.count; index++) {
    const rect = coveredRect(plan, tileWindow(plan, index))
    const { validFraction } = await reader.read(index, out)
    let count = 0
    for (let y = rect.y; y < rect.y + rect.height; y++) {
      for (let x = rect.x; x < rect.x + rect.width; x++) count += valid[y * width + x] as number
    }
    const found = Math.round(validFraction * rect.width * rect.height)
    // Where a lossy picture has its nodata is a matter of rounding.
    const slack =
      (nodata !== null || raster.alphaBand !== null) && (compression === 'jpeg' || compression === 'webp') ? 20 : 0
    if (Math.abs(found - count) > slack) report(`valid pixels of band ${band} in tile ${index}`, found, count)
    report(`band ${band}, tile ${index} is finite`, out.every(Number.isFinite), true)
  }
}

const catalogue = createCrsCatalogue()
const METERS = 111_319.49

function compareCorners(raster: RasterInfo, gdal: GdalReading, report: Report): void {
  const crs = raster.epsg === null ? null : catalogue.find(raster.epsg)
  if (crs === null || raster.affine === null || gdal.corners === null) return
  const rect = { x: 0, y: 0, width: raster.width, height: raster.height }
  const { polygons } = footprint(crs, raster.affine, rect)
  for (const corner of gdal.corners) {
    if (corner === null) continue
    const [lng, lat] = corner
    const meters = polygons.flat().map(([x, y]) => {
      const turn = x - lng - 360 * Math.round((x - lng) / 360)
      return METERS * Math.hypot(turn * Math.cos((lat * Math.PI) / 180), y - lat)
    })
    const nearest = Math.min(...meters)
    if (nearest > 0.001) report(`corner ${lng} ${lat} of EPSG:${raster.epsg}`, `${nearest} m away`, 'on the ring')
  }
}
