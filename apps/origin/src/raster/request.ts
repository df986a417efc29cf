import { readParameters } from '@terrane/service'
import type { LngLatBox } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { FoundRaster } from './sources.ts'

const Url = Type.Object({ url: Type.String({ minLength: 1, maxLength: 2000 }) })

/** Options of all routes; the query names the raster. */
export const options = { schema: { querystring: Url }, config: { quiet: true } }

/**
 * Finds the raster of a request.
 *
 * @param area in degrees; null for the whole of it
 * @param asset one asset of a STAC item, instead of those of the request
 */
export type FindRaster = (
  request: FastifyRequest,
  signal: AbortSignal,
  area: LngLatBox | null,
  asset?: string | null,
) => Promise<FoundRaster>

/** Names of what the source of a request consists of: assets of a STAC item, or sources of a table in an area. */
export type ListAssets = (
  request: FastifyRequest,
  signal: AbortSignal,
  area: LngLatBox | null,
  most: number,
) => Promise<readonly string[]>

/** Parameters that may be repeated: bands, their ranges, names and percentiles, and zooms of sets. */
const LISTS: ReadonlySet<string> = new Set(['bidx', 'rescale', 'assets', 'asset_bidx', 'p', 'c', 'zooms'])

/** @throws PARAMETER_REPEATED */
export function queryOf(request: FastifyRequest): URLSearchParams {
  return readParameters(request, (name) => LISTS.has(name))
}
