import { serveThread } from '@terrane/core/threads'
import {
  areaZones,
  createCrsCatalogue,
  inspectGeoTiff,
  openFileSource,
  poolGeoTiff,
  tileZones,
  toPixels,
  type InspectRequest,
  type InspectedRaster,
  type Pool,
  type PoolRequest,
  type RasterInfo,
  type Zones,
} from '@terrane/tiling/raster'
import { inspectZarr, objectsOf, poolZarr, type ZarrRaster } from '@terrane/tiling/zarr'
import type { PoolMethods, PoolProgress, PooledRows } from './pool-protocol.ts'

/** Maximum size of a decoded block of a GeoTIFF, as of a chunk of a Zarr store: blocks of vectors are larger than those of pictures. */
const MAX_BLOCK_BYTES = 2 ** 28
/** Numbers that are sent to the other thread in one message. */
const NUMBERS = 1 << 20

/** An opened raster, and where its pixels go. */
interface Opened {
  readonly path: string
  readonly zarr: ZarrRaster | null
  readonly inspected: InspectedRaster
  readonly zones: Zones | null
}

serveThread<null, PoolMethods, PoolProgress>((_, emit) => {
  let opened: Opened | null = null
  let pooled: { readonly pool: Pool; readonly zones: Zones; readonly dims: number; readonly isUnit: boolean } | null =
    null
  let zone = 0
  return {
    open: async ({ path, zarr: found, datetime, tileSize, sourceSrs, crs }) => {
      const plain = { tileSize, bands: [0], channels: ['vector'], profile: 'none', crs: createCrsCatalogue(crs) }
      const request = { ...plain, ...(sourceSrs !== null && { sourceSrs }) }
      const raster =
        found === null
          ? { zarr: null, inspected: inspectFile(path, request) }
          : await inspectZarr(path, found, { ...request, datetime })
      opened = { path, ...raster, zones: null }
      return raster.inspected
    },
    place: ({ areas }) => {
      const { raster, plan, crs } = opened!.inspected
      const toRings = toPixels(crs, raster.affine)
      const zones = areas === null ? tileZones(plan) : areaZones(raster.width, raster.height, areas.map(toRings))
      opened = { ...opened!, zones }
      return opened.zarr === null ? [] : objectsOf(opened.zarr, zones)
    },
    pool: async ({ bands, rule, statistics, isUnit }) => {
      const { path, zarr, inspected, zones } = opened!
      const request = { zones: zones!, bands, rule, statistics, onProgress: emit }
      const { raster } = inspected
      const pool = zarr ? await poolZarr(path, zarr, raster, request) : await poolFile(path, raster, request)
      pooled = { pool, zones: zones!, dims: bands.length * statistics.length, isUnit }
    },
    next: ({ minValidFraction }, transfer) => {
      const { pool, zones, dims, isUnit } = pooled!
      const rows: { zones: number[]; fractions: number[] } = { zones: [], fractions: [] }
      const most = Math.max(1, Math.floor(NUMBERS / dims))
      const vectors = new Float32Array(most * dims)
      for (; zone < zones.count && rows.zones.length < most; zone++) {
        const valid = pool.validPixels(zone)
        const fraction = zones.sizes[zone] === 0 ? 0 : valid / zones.sizes[zone]!
        if (valid === 0 || fraction < minValidFraction) continue
        pool.write(zone, vectors.subarray(rows.zones.length * dims, (rows.zones.length + 1) * dims), isUnit)
        rows.zones.push(zone)
        rows.fractions.push(fraction)
      }
      if (rows.zones.length === 0) return null
      const made: PooledRows = { ...rows, vectors: vectors.slice(0, rows.zones.length * dims) }
      transfer.push(made.vectors.buffer as ArrayBuffer)
      return made
    },
  }
})

function inspectFile(path: string, request: InspectRequest): InspectedRaster {
  using source = openFileSource(path)
  return inspectGeoTiff(source, { ...request, maxBlockBytes: MAX_BLOCK_BYTES })
}

async function poolFile(path: string, raster: RasterInfo, request: PoolRequest): Promise<Pool> {
  using source = openFileSource(path)
  return await poolGeoTiff(source, raster, request)
}
