import type { FastifyRequest } from 'fastify'
import { parameterRepeated } from '../errors.ts'

/** Reads a query string as URLs are read (WHATWG URL, 5.1): a repeated name has a list. */
export function parseQuerystring(text: string): Record<string, string | string[]> {
  const values = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of new URLSearchParams(text)) {
    const former = values[name]
    values[name] = former === undefined ? value : [former, value].flat()
  }
  return values
}

/**
 * The query parameters of a request in their order, from the same text as `request.query`. Repeated parameters are
 * refused, so that all readers of a request use the same value.
 *
 * @param mayRepeat whether a name may be repeated; none may when absent
 * @throws PARAMETER_REPEATED
 */
export function readParameters(
  { raw }: Pick<FastifyRequest, 'raw'>,
  mayRepeat: (name: string, value: string) => boolean = () => false,
): URLSearchParams {
  const [, ...query] = (raw.url ?? '').split('?')
  const parameters = new URLSearchParams(query.join('?'))
  const seen = new Set<string>()
  for (const [name, value] of parameters) {
    if (mayRepeat(name, value)) continue
    if (seen.has(name)) throw parameterRepeated({ name: name.slice(0, 100) })
    seen.add(name)
  }
  return parameters
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>
}

/** Checks that declared query parameters other than lists are not repeated. @throws PARAMETER_REPEATED */
export async function requireDeclaredOnce(request: FastifyRequest): Promise<void> {
  const declared = (request.routeOptions.schema?.querystring as QuerySchema | undefined)?.properties
  if (declared === undefined) return
  readParameters(request, (name) => !Object.hasOwn(declared, name) || declared[name]?.type === 'array')
}
