import { forbidden, isFromOrigin, publicLimitsOf, unauthorized, type Principal, type Verify } from '@terrane/auth'
import { readParameters } from '@terrane/service'
import type { FastifyRequest } from 'fastify'

/** The key in the URL of a request that has none in its headers; null for none. */
export function publishableKeyIn(request: FastifyRequest): string | null {
  const { apikey, authorization } = request.headers
  if (apikey !== undefined || authorization !== undefined) return null
  return readParameters(request, (name) => name !== 'apikey').get('apikey') || null
}

/**
 * The caller of a publishable key. The request must come from a page of an origin that the key names. The table is
 * checked later, when it is known.
 *
 * @throws UNAUTHORIZED, FORBIDDEN
 */
export async function identifyPage(
  verify: Verify | undefined,
  key: string,
  { headers }: FastifyRequest,
): Promise<Principal> {
  if (!verify) throw unauthorized({ reason: 'unpublishable' }, { hint: HINT })
  const principal = await verify(key)
  const limits = publicLimitsOf(principal)
  if (!limits || !isFromOrigin(limits, headers))
    throw forbidden({ need: 'a page of an origin that the key names' }, { hint: HINT })
  return principal
}

/** Whether a caller may request a table. Publishable keys are limited to their tables. */
export function mayAskFor(principal: Principal, schema: string, table: string): boolean {
  const limits = publicLimitsOf(principal)
  return limits === null || limits.tables.includes(`${schema}.${table}`)
}

const HINT =
  'Make one by `terrane key create --role anon --table … --origin …`; any other key goes into the header `apikey`.'
