import { EXPORT_FORMATS } from '@terrane/contracts'
import { isTextOrNone, quotedInList, restConditions } from '@terrane/map-style/filters'
import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { filtersInvalid, projectKeyEnded, rowChanged } from '../errors.ts'
import { projectOf } from '../sessions/guard.ts'
import { ask, pass, pathOf, readAnswer, send, type Ask } from '../upstream/ask.ts'
import { relayToProject, rpc } from '../upstream/relay.ts'

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
  sort: Type.Optional(
    Type.String({ minLength: 1, maxLength: 63, description: 'A column; rows without a value last.' }),
  ),
  descending: Type.Optional(Type.Boolean()),
  filters: Type.Optional(Type.String({ maxLength: 4000, description: 'Filters of a layer of a map, as JSON.' })),
})
/** Names of columns that REST can filter by: without a dot, and not reserved for query parameters. */
const COLUMN = '^(?!(select|order|limit|offset|columns|on_conflict|and|or)$|not\\.)[^.]{1,63}$'
const Filters = Type.Array(
  Type.Object({
    property: Type.String({ pattern: COLUMN }),
    is: Type.Enum(['equal', 'not', 'less', 'more', 'contains', 'empty', 'filled']),
    value: Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
  }),
  { maxItems: 5 },
)
/** Compared values are part of a URL, whose length is limited. */
const Compared = Type.String({ maxLength: 1000 })
const EditParams = Type.Object({ ref: Type.String(), table: Params.properties.table })
/** Values are text, which the database parses as the type of the column. */
const Edit = Type.Object(
  {
    key: Type.Record(Type.String({ pattern: COLUMN }), Compared, {
      minProperties: 1,
      maxProperties: 8,
      additionalProperties: false,
      description: 'Columns of the primary key, with the values of the row.',
    }),
    column: Type.String({ pattern: COLUMN }),
    from: Type.Union([Compared, Type.Null()]),
    to: Type.Union([Type.String({ maxLength: 100_000 }), Type.Null()]),
  },
  { additionalProperties: false },
)
/** Maximum bytes of an answer about one row. */
const ROW_BYTES = 1 << 20

const File = Type.Object({ format: Type.Enum(EXPORT_FORMATS.filter((format) => format !== 'Shapefile')) })
/** A format that is written completely before its first byte needs a long timeout. */
const FILE_TIMEOUT_MS = 600_000

/** The tables of a project, as the service role: list, read, write to a file, share with a role, drop. */
export function tableRoutes(app: Http): void {
  app.get('/api/projects/:ref/tables', (request, reply) => relayToProject(request, reply, rpc('list_tables', {})))
  app.get(
    '/api/projects/:ref/tables/:schema/:table/rows',
    { schema: { params: Params, querystring: Rows } },
    async (request, reply) => {
      const { schema, table } = request.params
      const { limit, offset, named, sort, descending = false, filters } = request.query
      const conditions = filtersOf(filters)
      const queryOf = (hasEmptyTexts: boolean) => {
        const query = new URLSearchParams({ limit: String(limit), offset: String(offset) })
        if (sort !== undefined) query.set('order', `${quotedInList(sort)}.${descending ? 'desc' : 'asc'}.nullslast`)
        for (const [column, condition] of restConditions(conditions, hasEmptyTexts)) query.append(column, condition)
        // Wildcard characters in the search text are replaced by `_`, which matches any single character.
        if (named !== undefined) query.append('name', `ilike.*${named.replaceAll(/[\\%_*]/g, '_')}*`)
        return query
      }
      const what: Ask = {
        method: 'GET',
        path: `/rest/v1${pathOf(table)}`,
        query: queryOf(true),
        headers: { 'accept-profile': schema, ...(named !== undefined && { accept: 'application/geo+json' }) },
      }
      const to = projectOf(request).connection.data()
      const answer = await ask(request, reply, to, what)
      if (answer.status !== 400 || !conditions.some(isTextOrNone)) return pass(reply, answer)
      // Columns of some types, such as times, refuse an empty text. No such row exists, so the query is repeated
      // without that condition.
      await answer.body?.cancel()
      return pass(reply, await ask(request, reply, to, { ...what, query: queryOf(false) }))
    },
  )
  app.get(
    '/api/projects/:ref/tables/:schema/:table/file',
    { schema: { params: Params, querystring: File } },
    (request, reply) => {
      const { schema, table } = request.params
      return relayToProject(request, reply, {
        path: `/export/v1${pathOf(`${schema}.${table}`)}`,
        query: new URLSearchParams({ format: request.query.format }),
        timeoutMs: FILE_TIMEOUT_MS,
      })
    },
  )
  shareRoutes(app)
  editRoute(app)
  app.delete('/api/projects/:ref/tables/:schema/:table', { schema: { params: Params } }, (request, reply) => {
    const { schema, table } = request.params
    const what =
      schema === 'geoembeddings'
        ? rpc('delete_embedding_table', { p_table_name: table })
        : rpc('drop_table', { p_schema: schema, p_table: table })
    return relayToProject(request, reply, what)
  })
}

/**
 * `PATCH …/tables/public/{table}/rows`: changes one cell of a row as the service role, and answers its stored `value`
 * as text. Errors of the database (a check, a generated column, a missing right) are passed on unchanged.
 */
function editRoute(app: Http): void {
  app.patch(
    '/api/projects/:ref/tables/public/:table/rows',
    { schema: { params: EditParams, body: Edit } },
    async (request, reply) => {
      const { key, column, from, to } = request.body
      const query = new URLSearchParams({ select: `value:${quotedInList(column)}::text` })
      for (const [name, value] of Object.entries(key)) query.append(name, `eq.${value}`)
      query.append(column, from === null ? 'is.null' : `eq.${from}`)
      const endpoint = projectOf(request).connection.data()
      const answer = await send(request, reply, endpoint, {
        method: 'PATCH',
        path: `/rest/v1${pathOf(request.params.table)}`,
        query,
        headers: {
          accept: 'application/json',
          'content-profile': 'public',
          // Nothing is changed when several rows have the key.
          prefer: 'handling=strict, max-affected=1, return=representation',
        },
        body: JSON.stringify({ [column]: to }),
      })
      if (answer.status === 401) throw projectKeyEnded({ service: endpoint.service })
      if (!answer.ok) return pass(reply, answer)
      const [row] = (await readAnswer(endpoint, answer, ROW_BYTES)) as readonly { value: string | null }[]
      if (!row) throw rowChanged({ column })
      return row
    },
  )
}

function shareRoutes(app: Http): void {
  app.post(
    '/api/projects/:ref/tables/:schema/:table/share',
    { schema: { params: Params, body: Share } },
    (request, reply) => {
      const { schema, table } = request.params
      const args = { p_schema: schema, p_table: table, p_role: request.body.role }
      return relayToProject(request, reply, rpc('share_table', args))
    },
  )
  app.delete(
    '/api/projects/:ref/tables/:schema/:table/share/:role',
    { schema: { params: RoleParams } },
    (request, reply) => {
      const { schema, table, role } = request.params
      const args = { p_schema: schema, p_table: table, p_role: role }
      return relayToProject(request, reply, rpc('unshare_table', args))
    },
  )
}

type RowFilter = Type.Static<typeof Filters>[number]

function filtersOf(text: string | undefined): readonly RowFilter[] {
  if (text === undefined) return []
  let filters: unknown
  try {
    filters = JSON.parse(text)
  } catch {
    filters = null
  }
  if (!Value.Check(Filters, filters)) throw filtersInvalid()
  return filters
}
