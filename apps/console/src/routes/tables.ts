import { EXPORT_FORMATS } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { projectOf } from '../sessions/guard.ts'
import { ask, pass, pathOf, type Ask } from '../upstream/ask.ts'

const Params = Type.Object({
  ref: Type.String(),
  schema: Type.Enum(['public', 'geoembeddings']),
  table: Type.String({ minLength: 1, maxLength: 63 }),
})
const Role = Type.Enum(['anon', 'authenticated'])
const Share = Type.Object({ role: Role }, { additionalProperties: false })
const RoleParams = Type.Object({ ...Params.properties, role: Role })
const Rows = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 50 }),
  offset: Type.Integer({ minimum: 0, default: 0 }),
  named: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only rows whose `name` holds this text, whatever its case, as GeoJSON.',
    }),
  ),
})

const File = Type.Object({ format: Type.Enum(EXPORT_FORMATS.filter((format) => format !== 'Shapefile')) })
/** A file that is written whole before its first byte leaves takes its time. */
const FILE_TIMEOUT_MS = 600_000

/** The tables of a project, as the service role: list, read, write to a file, share with a role, drop. */
export function tableRoutes(app: Http): void {
  app.get('/api/projects/:ref/tables', async (request, reply) =>
    pass(reply, await ask(request, reply, projectOf(request).connection.data(), call('list_tables', {}))),
  )
  app.get(
    '/api/projects/:ref/tables/:schema/:table/rows',
    { schema: { params: Params, querystring: Rows } },
    async (request, reply) => {
      const { schema, table } = request.params
      const { limit, offset, named } = request.query
      const query = new URLSearchParams({ limit: String(limit), offset: String(offset) })
      // Wildcard characters in the search text are replaced by `_`, which matches any single character.
      if (named !== undefined) query.set('name', `ilike.*${named.replaceAll(/[\\%_*]/g, '_')}*`)
      const what: Ask = {
        method: 'GET',
        path: `/rest/v1${pathOf(table)}`,
        query,
        headers: { 'accept-profile': schema, ...(named !== undefined && { accept: 'application/geo+json' }) },
      }
      return pass(reply, await ask(request, reply, projectOf(request).connection.data(), what))
    },
  )
  app.get(
    '/api/projects/:ref/tables/:schema/:table/file',
    { schema: { params: Params, querystring: File } },
    async (request, reply) => {
      const { schema, table } = request.params
      const what: Ask = {
        method: 'GET',
        path: `/export/v1${pathOf(`${schema}.${table}`)}`,
        query: new URLSearchParams({ format: request.query.format }),
        timeoutMs: FILE_TIMEOUT_MS,
      }
      return pass(reply, await ask(request, reply, projectOf(request).connection.data(), what))
    },
  )
  shareRoutes(app)
  app.delete('/api/projects/:ref/tables/:schema/:table', { schema: { params: Params } }, async (request, reply) => {
    const { schema, table } = request.params
    const what =
      schema === 'geoembeddings'
        ? call('delete_embedding_table', { p_table_name: table })
        : call('drop_table', { p_schema: schema, p_table: table })
    return pass(reply, await ask(request, reply, projectOf(request).connection.data(), what))
  })
}

function shareRoutes(app: Http): void {
  app.post(
    '/api/projects/:ref/tables/:schema/:table/share',
    { schema: { params: Params, body: Share } },
    async (request, reply) => {
      const { schema, table } = request.params
      const args = { p_schema: schema, p_table: table, p_role: request.body.role }
      return pass(reply, await ask(request, reply, projectOf(request).connection.data(), call('share_table', args)))
    },
  )
  app.delete(
    '/api/projects/:ref/tables/:schema/:table/share/:role',
    { schema: { params: RoleParams } },
    async (request, reply) => {
      const { schema, table, role } = request.params
      const args = { p_schema: schema, p_table: table, p_role: role }
      return pass(reply, await ask(request, reply, projectOf(request).connection.data(), call('unshare_table', args)))
    },
  )
}

function call(name: string, args: object): Ask {
  return {
    method: 'POST',
    path: `/rest/v1/rpc${pathOf(name)}`,
    headers: { 'content-profile': 'geoembeddings' },
    body: JSON.stringify(args),
  }
}
