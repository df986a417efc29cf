import type { Principal } from '@terrane/auth'
import { parseQuery } from '@terrane/database/rest-query'
import { readParameters } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import type { RestDeps } from '../rest/call.ts'
import { runAs } from '../rest/execute.ts'
import { timeoutOf } from '../rest/limits.ts'
import { sourceOf } from '../rest/source-of.ts'
import { readColumnStats, type ColumnStats } from './column-stats.ts'
import { badStats } from './errors.ts'
import { findLayer } from './layer.ts'
import { wholeOf } from './whole-of.ts'

/** Parameters that are not filters. */
const OWN: ReadonlySet<string> = new Set(['property', 'classes', 'apikey'])
const CLASSES = 5
const MOST_CLASSES = 12

/** `/vector/v1/{schema.table}/stats`: values of one property over all visible rows, until the client disconnects. */
export async function columnStats(
  deps: Pick<RestDeps, 'database' | 'schemas' | 'limits'>,
  request: FastifyRequest,
): Promise<ColumnStats> {
  const { schema, table } = sourceOf(deps.schemas, request)
  const parameters = readParameters(request, (name) => !OWN.has(name))
  const property = parameters.get('property')
  if (property === null || property === '') throw badStats('property is missing: name one of the TileJSON')
  const classes = wholeOf(parameters.get('classes'), 'classes', 2, MOST_CLASSES, badStats) ?? CLASSES
  for (const name of OWN) parameters.delete(name)
  const { conditions } = parseQuery(parameters)
  const principal = request.restCaller as Principal
  const timeoutMs = timeoutOf(deps.limits, principal)
  const as = { principal, schema, readOnly: true, isSnapshot: true, rollback: false, timeoutMs }
  return runAs(deps.database, as, async (session) =>
    readColumnStats(session, await findLayer(session, schema, table, [property]), { classes, conditions }),
  )
}
