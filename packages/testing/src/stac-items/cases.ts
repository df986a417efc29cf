import { readFileSync, readdirSync } from 'node:fs'
import { imageOf, writeGeoTiff, type GeoTiffOptions } from '../geotiff/index.ts'

/** A GeoTIFF of a case, made by numbers. */
export interface StacFile {
  readonly name: string
  /** West edge, north edge and side of a pixel, in units of the CRS. */
  readonly place: readonly [number, number, number]
  readonly size: readonly [number, number]
  readonly epsg: number
  readonly bands?: number
  readonly options: GeoTiffOptions
  /** Kind of its values: reflectance in steps, backscatter, heights, classes or flags. */
  readonly holds: 'counts' | 'signed' | 'backscatter' | 'heights' | 'classes' | 'flags'
}

/** An item with the structure of a public catalogue's, and the requested bands. */
export interface StacCase {
  readonly name: string
  /** The item; `https://FILES/` stands for the address of its files. */
  readonly item: object
  readonly files: readonly StacFile[]
  readonly assets: readonly string[]
  /** The bands that the assets stand for; `nodata`, `scale` and `offset` where the item and not the file says it. */
  readonly bands: readonly {
    readonly file: string
    readonly band: number
    readonly nodata?: number
    readonly scale?: number
    readonly offset?: number
  }[]
  readonly mask?: {
    readonly asset: string
    readonly file: string
    readonly values: readonly number[]
    readonly bits: readonly number[]
  }
}

/** The files of a case by name. */
export async function stacFiles({ files }: StacCase): Promise<Map<string, Uint8Array>> {
  const all = files.map(async (file) => [file.name, await written(file)] as const)
  return new Map(await Promise.all(all))
}

function written({ place: [x, y, step], size: [width, height], epsg, options, holds, bands = 1, name }: StacFile) {
  const seed = Buffer.from(name).reduce((sum, code) => (sum * 31 + code) % 9973, 7)
  const image = imageOf({ width, height, bands }, (column, row, band) => {
    const [u, v] = [(column + 0.5) / width, (row + 0.5) / height]
    // The north-western corner has no data; so have single pixels.
    const isGap = u + v < 0.2 || (column * 7 + row * 13 + seed) % 97 === 0
    const wave = Math.sin(9 * u + band) * Math.cos(7 * v + seed) + (((column * 37 + row * 101 + seed) % 23) - 11) / 40
    return valueOf(holds, wave, isGap, column + row * 3 + seed)
  })
  const georeference = { epsg, affine: [x, step, 0, y, 0, -step] as const, ...(epsg === 4326 && { geographic: true }) }
  return writeGeoTiff(image, { compression: 'deflate', tileSize: 64, georeference, ...options })
}

function valueOf(holds: StacFile['holds'], wave: number, isGap: boolean, number: number): number {
  const scl = [4, 5, 6, 8, 3, 9, 2, 10, 11, 1, 0]
  const values = {
    counts: isGap ? 0 : Math.round(4000 + 2500 * wave),
    signed: isGap ? -9999 : Math.round(1500 + 2500 * wave),
    backscatter: isGap ? -32_768 : Math.fround(0.2 + 0.12 * wave),
    heights: Math.fround(800 + 400 * wave),
    classes: scl[Math.floor(number / 9) % scl.length]!,
    flags: [0, 64, 2, 8, 64, 16, 64, 1][Math.floor(number / 11) % 8]!,
  }
  return values[holds]
}

const folder = new URL('./items/', import.meta.url)

/** Twelve items with the structure of eight public catalogues, as of 2026; files and numbers are made here. */
export const STAC_CASES: readonly StacCase[] = readdirSync(folder)
  .toSorted()
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as StacCase)
