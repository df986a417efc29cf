import { serveThread } from '@terrane/core/threads'
import {
  areaZones,
  createCrsCatalogue,
  inspectGeoTiff,
  openFileSource,
  poolGeoTiff,
  tileZones,
  toPixels,
  type InspectedRaster,
  type Pool,
  type Zones,
} from '@terrane/tiling/raster'
import type { PoolMethods, PoolProgress, PooledRows } from './pool-protocol.ts'

/** Numbers that are sent to the other thread in one message. */
const NUMBERS = 1 << 20

serveThread<null, PoolMethods, PoolProgress>((_, emit) => {
  let opened: { readonly path: string; readonly inspected: InspectedRaster } | null = null
  let pooled: { readonly pool: Pool; readonly zones: Zones; readonly dims: number; readonly isUnit: boolean } | null =
    null
  let zone = 0
  return {
    open: ({ path, tileSize, sourceSrs, crs }) => {
      using source = openFileSource(path)
      const request = { tileSize, bands: [0], channels: ['vector'], profile: 'none', crs: createCrsCatalogue(crs) }
      const inspected = inspectGeoTiff(source, { ...request, ...(sourceSrs !== null && { sourceSrs }) })
      opened = { path, inspected }
      return inspected
    },
    pool: async ({ areas, bands, rule, statistics, isUnit }) => {
      const { path, inspected } = opened!
      const { raster, plan, crs } = inspected
      const place = toPixels(crs, raster.affine)
      const zones = areas === null ? tileZones(plan) : areaZones(raster.width, raster.height, areas.map(place))
      using source = openFileSource(path)
      const pool = await poolGeoTiff(source, raster, { zones, bands, rule, statistics, onProgress: emit })
      pooled = { pool, zones, dims: bands.length * statistics.length, isUnit }
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
