import { TILE_SETS, type LngLatBox, type TileSet } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { badParameter } from './errors.ts'
import { boxOf, type RequestBox } from './crs-parameters.ts'
import { integer, oneOf, sideOf } from './parameters.ts'

/** Largest zoom that is served. */
export const MAX_ZOOM = 26

/** The set of tiles of a request; Web Mercator unless the path names one. @throws BAD_PARAMETER */
export function tileSetOf(request: FastifyRequest): TileSet {
  const { tms = 'WebMercatorQuad' } = request.params as { tms?: string }
  return oneOf('tms', tms, Object.keys(TILE_SETS) as TileSet[])
}

/** Position, scale (`@2x`: two pixels for one) and extension of a tile. @throws BAD_PARAMETER */
export function readTileAddress(
  params: { readonly z: string; readonly x: string; readonly file: string },
  set: TileSet,
): { z: number; x: number; y: number; scale: number; extension: string | undefined } {
  const [, scale = '1'] = /@([1-4])x(?=\.|$)/.exec(params.file) ?? []
  const [y = '', extension] = params.file.replace(`@${scale}x`, '').split('.')
  const z = integer('z', params.z, 0, MAX_ZOOM)
  const { columns, rows } = TILE_SETS[set]
  return {
    z,
    x: integer('x', params.x, 0, columns * 2 ** z - 1),
    y: integer('y', y, 0, rows * 2 ** z - 1),
    scale: Number(scale),
    extension,
  }
}

/** `{w}x{h}` and the format of `/preview/512x256.png`, `/preview.png` and `/preview`. */
export function previewOf(
  text: string | undefined,
  ending: string | undefined,
): { size: readonly [number, number] | null; format: string | undefined } {
  if (text === undefined) return { size: null, format: ending }
  const parts = /^(\d+)x(\d+)(?:\.(\w+))?$/.exec(text)
  if (!parts) throw badParameter({ name: 'size', value: text, wanted: '{width}x{height} is wanted' })
  return { size: [sideOf('width', parts[1] as string, 1), sideOf('height', parts[2] as string, 1)], format: parts[3] }
}

/** The box of `/bbox/{box}.{format}` and of `/bbox/{box}/{width}x{height}.{format}`. @throws BAD_PARAMETER */
export function boxAndFormatOf(
  text: string,
  sizeText: string | undefined,
  boundsCrs: number,
): { area: RequestBox; size: readonly [number, number] | null; format: string | undefined } {
  if (sizeText !== undefined) return { area: boxOf(text, boundsCrs), ...previewOf(sizeText, undefined) }
  const [, box = text, format] = /^(.*)\.([a-z]+)$/.exec(text) ?? []
  return { area: boxOf(box, boundsCrs), size: null, format }
}

/** The box of a tile in degrees. @param buffer tiles that are added on each side */
export function areaOfTile({ z, x, y }: { z: number; x: number; y: number }, set: TileSet, buffer: number): LngLatBox {
  const { plane, left, top, side } = TILE_SETS[set]
  const span = side / 2 ** z
  const [west, east] = [left + (x - buffer) * span, left + (x + 1 + buffer) * span]
  const [north, south] = [top - (y - buffer) * span, top - (y + 1 + buffer) * span]
  if (plane === 'lnglat') return [west, south, east, north]
  const edge = side / 2
  const lat = (value: number): number => (Math.atan(Math.sinh((value / edge) * Math.PI)) * 180) / Math.PI
  return [(west / edge) * 180, lat(south), (east / edge) * 180, lat(north)]
}
