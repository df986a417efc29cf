import type { FastifyRequest } from 'fastify'
import { RestError } from './errors.ts'

/** The table of a path `/{schema.table}`, or a table of the first schema. */
export function sourceOf(
  schemas: readonly string[],
  request: Pick<FastifyRequest, 'params'>,
): { schema: string; table: string } {
  const { source } = request.params as { source: string }
  const dot = source.indexOf('.')
  const named = dot > 0 && schemas.includes(source.slice(0, dot))
  if (named) return { schema: source.slice(0, dot), table: source.slice(dot + 1) }
  if (dot > 0) {
    throw new RestError(406, 'PGRST106', `Invalid schema: ${source.slice(0, dot)}`, {
      hint: `Only the following schemas are exposed: ${schemas.join(', ')}`,
    })
  }
  return { schema: schemas[0] as string, table: source }
}
