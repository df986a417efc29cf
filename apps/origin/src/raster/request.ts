import { readParameters } from '@terrane/service'
import type { LngLatBox } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { FoundRaster } from './sources.ts'

const Url = Type.Object({ url: Type.String({ minLength: 1, maxLength: 2000 }) })

/** Options of all routes; the query names the raster. */
export const options = { schema: { querystring: Url }, config: { quiet: true } }

/** Finds the raster of a request. @param area in degrees; null for the whole of it */
export type FindRaster = (request: FastifyRequest, signal: AbortSignal, area: LngLatBox | null) => Promise<FoundRaster>

/** Parameters that may be repeated: bands, their ranges, names and percentiles. */
const LISTS: ReadonlySet<string> = new Set(['bidx', 'rescale', 'assets', 'asset_bidx', 'p', 'c'])

/** @throws PARAMETER_REPEATED */
export function queryOf(request: FastifyRequest): URLSearchParams {
  return readParameters(request, (name) => LISTS.has(name))
}
