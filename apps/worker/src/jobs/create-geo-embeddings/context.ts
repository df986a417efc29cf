import type { ModelManifest, TileContext } from '@terrane/embeddings'
import { coveredRect, footprint, tileWindow, type InspectedRaster } from '@terrane/tiling/raster'
import type { GeoRequest } from './request.ts'

/** Meters in a degree of a meridian, on a sphere of the Earth's mean radius. */
const METERS_PER_DEGREE = (Math.PI / 180) * 6_371_008.8

/** Inputs of a model beside the pixels of a tile; empty when it has none. */
export function tileContext(
  request: GeoRequest,
  manifest: ModelManifest,
  inspected: InspectedRaster,
): Partial<TileContext> {
  if (!manifest.extra_inputs?.length) return {}
  const { plan, profile, channels } = inspected
  const places = new Float64Array(2 * plan.count)
  for (let tile = 0; tile < plan.count; tile++) places.set(middleOf(inspected, tile).place, 2 * tile)
  const known = (channels ?? []).map((name) => profile?.profile.bands.find(({ common }) => common === name)?.wavelength)
  const wavelengths = known.filter((nanometers) => typeof nanometers === 'number')
  // A tile may be resampled to the only size that the model accepts.
  const zoom = request.tileSize / (manifest.input.size?.width ?? request.tileSize)
  return {
    datetime: request.datetime,
    gsd: groundSize(inspected) * zoom,
    wavelengths: known.length > 0 && wavelengths.length === known.length ? wavelengths : null,
    places,
  }
}

/** Distortion below which a projection counts as true to scale: pixels keep the nominal size of their product. */
const TRUE_TO_SCALE = 0.01

/** Length of a pixel in the middle of the raster, in meters. */
export function groundSize(inspected: InspectedRaster): number {
  const { meters } = middleOf(inspected, Math.floor(inspected.plan.count / 2))
  const [, a, b, , d, e] = inspected.raster.affine
  const nominal = Math.sqrt(Math.abs(a * e - b * d))
  return Math.abs(meters / nominal - 1) < TRUE_TO_SCALE ? nominal : meters
}

/** Centre of a tile in longitude and latitude, and the length of a pixel there in meters. */
function middleOf({ plan, crs, raster }: InspectedRaster, tile: number): { place: [number, number]; meters: number } {
  const { x, y, width, height } = coveredRect(plan, tileWindow(plan, tile))
  const pixel = { x: x + Math.floor((width - 1) / 2), y: y + Math.floor((height - 1) / 2), width: 1, height: 1 }
  const ring = footprint(crs, raster.affine, pixel).polygons[0]!.slice(0, -1)
  const mean = (axis: 0 | 1): number => ring.reduce((sum, position) => sum + position[axis], 0) / ring.length
  const place: [number, number] = [mean(0), mean(1)]
  // The area of one pixel by the shoelace formula; its square root is the length of a side.
  const shrink = Math.cos((place[1] * Math.PI) / 180)
  const area = ring.reduce((sum, [lng, lat], i) => {
    const [nextLng, nextLat] = ring[(i + 1) % ring.length]!
    return sum + ((lng - place[0]) * (nextLat - place[1]) - (nextLng - place[0]) * (lat - place[1])) / 2
  }, 0)
  return { place, meters: METERS_PER_DEGREE * Math.sqrt(Math.abs(area) * shrink) }
}
