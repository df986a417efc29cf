import { readComment } from '@terrane/database'
import type { Column, Relation, Routine, SchemaCatalog } from './catalog.ts'
import { columnSchema, querySchema, typeSchema, type Json } from './json-types.ts'

/** Differences of the two document formats. */
interface Dialect {
  readonly ref: (kind: 'schema' | 'parameter', name: string) => Json
  /** The key of a named part. */
  readonly key: (name: string) => string
  /** A parameter of the query or a header. */
  readonly parameter: (where: 'query' | 'header', name: string, schema: Json, description: string) => Json
  /** Description of an operation's body. */
  readonly body: (name: string, schema: Json) => { readonly parameters: readonly Json[]; readonly rest: Json }
  readonly answer: (description: string, schema?: Json) => Json
  /** A schema whose values may be null; in Swagger 2.0 this cannot be expressed. */
  readonly nullable: (schema: Json) => Json
  /** Body of a change: some columns of a row. */
  readonly change: (relation: Relation, isNew: boolean) => Json
}

const SWAGGER: Dialect = {
  ref: (kind, name) => ({ $ref: `#/${kind === 'schema' ? 'definitions' : 'parameters'}/${pointer(name)}` }),
  key: (name) => name,
  parameter: (where, name, schema, description) => ({ name, in: where, required: false, description, ...schema }),
  body: (name, schema) => ({ parameters: [{ name, in: 'body', required: false, schema }], rest: {} }),
  answer: (description, schema) => ({ description, ...(schema && { schema }) }),
  nullable: (schema) => schema,
  change: ({ name }) => SWAGGER.ref('schema', name),
}

const OPENAPI: Dialect = {
  ref: (kind, name) => ({ $ref: `#/components/${kind}s/${OPENAPI.key(name)}` }),
  // OpenAPI 3.1, "Components Object": letters, digits, dots, hyphens and underscores.
  key: (name) => name.replace(/[^\w.-]/gu, (other) => `_x${other.codePointAt(0)?.toString(16)}`),
  parameter: (where, name, schema, description) => ({ name, in: where, required: false, description, schema }),
  body: (_name, schema) => ({ parameters: [], rest: { requestBody: { content: { 'application/json': { schema } } } } }),
  answer: (description, schema) => ({
    description,
    ...(schema && { content: { 'application/json': { schema } } }),
  }),
  nullable: (schema) => (typeof schema.type === 'string' ? { ...schema, type: [schema.type, 'null'] } : schema),
  change: ({ columns }, isNew) => {
    const required = isNew ? columns.filter((column) => column.required).map((column) => column.name) : []
    const row = { type: 'object', properties: propertiesOf(columns, OPENAPI), ...(required.length > 0 && { required }) }
    return isNew ? { anyOf: [row, { type: 'array', items: row }] } : row
  },
}

/** The Swagger 2.0 document of a schema, in the form of PostgREST's (its manual, "OpenAPI"). `host` as the client sees it. */
export function swagger(catalog: SchemaCatalog, host: string): Json {
  const { schemas, parameters, paths } = contents(catalog, SWAGGER)
  const types = ['application/json', 'application/vnd.pgrst.object+json', 'text/csv']
  return {
    swagger: '2.0',
    info: about(catalog),
    host,
    basePath: '/rest/v1/',
    consumes: ['application/json'],
    produces: types,
    securityDefinitions: { apikey: apiKey('apikey'), bearer: apiKey('Authorization') },
    security: [{ apikey: [] }, { bearer: [] }],
    paths,
    definitions: schemas,
    parameters,
  }
}

/** The same as an OpenAPI 3.1 document. */
export function openApi(catalog: SchemaCatalog): Json {
  const { schemas, parameters, paths } = contents(catalog, OPENAPI)
  const securitySchemes = {
    apikey: apiKey('apikey'),
    bearer: { type: 'http', scheme: 'bearer' },
  }
  return {
    openapi: '3.1.0',
    info: about(catalog),
    servers: [{ url: '/rest/v1' }],
    security: [{ apikey: [] }, { bearer: [] }],
    paths,
    components: { schemas, parameters, securitySchemes },
  }
}

const apiKey = (name: string): Json => ({ type: 'apiKey', in: 'header', name })

const about = ({ schema }: SchemaCatalog): Json => ({
  title: `standard ${schema} schema`,
  description: `Tables, views and functions of the schema ${schema} that your key may use.`,
  version: '1',
})

function contents(
  { relations, routines }: SchemaCatalog,
  dialect: Dialect,
): Record<'schemas' | 'parameters' | 'paths', Json> {
  const parameters = new Map(Object.entries(shared(dialect)))
  const schemas = new Map<string, Json>()
  const paths = new Map<string, Json>()
  for (const relation of relations) {
    schemas.set(dialect.key(relation.name), rowSchema(relation, dialect))
    for (const { name, type } of relation.columns) {
      const text = `Filter by ${name} (${type}): an operator, a dot and a value, \`eq.1\` for one.`
      parameters.set(
        dialect.key(`rowFilter.${relation.name}.${name}`),
        dialect.parameter('query', name, { type: 'string' }, text),
      )
    }
    paths.set(`/${encodeURIComponent(relation.name)}`, relationPath(relation, dialect))
  }
  // Overloads share one path; the document shows the first one, and its description mentions the others.
  for (const routine of routines) {
    const path = `/rpc/${encodeURIComponent(routine.name)}`
    if (!paths.has(path)) paths.set(path, routinePath(routine, { relations, routines }, dialect))
  }
  return {
    schemas: Object.fromEntries(schemas),
    parameters: Object.fromEntries(parameters),
    paths: Object.fromEntries(paths),
  }
}

function shared({ parameter }: Dialect): Record<string, Json> {
  const text = { type: 'string' }
  const whole = { type: 'integer', minimum: 0 }
  return {
    select: parameter('query', 'select', text, 'Columns, with commas between them; all without it.'),
    order: parameter('query', 'order', text, 'Columns to order by, `name.desc.nullslast` for one.'),
    limit: parameter('query', 'limit', whole, 'Most rows of the answer.'),
    offset: parameter('query', 'offset', whole, 'Rows to skip.'),
    on_conflict: parameter('query', 'on_conflict', text, 'Columns of the unique constraint to merge by.'),
    range: parameter('header', 'Range', text, 'First and last row, `0-9` for one.'),
    prefer: parameter(
      'header',
      'Prefer',
      text,
      'Such as `count=exact`, `return=representation`, `resolution=merge-duplicates`.',
    ),
  }
}

function relationPath(relation: Relation, dialect: Dialect): Json {
  const { name, may, columns } = relation
  const row = dialect.ref('schema', name)
  const rows = { type: 'array', items: row }
  const use = (...names: string[]) => names.map((parameter) => dialect.ref('parameter', parameter))
  const filters = use(...columns.map((column) => `rowFilter.${name}.${column.name}`))
  const inserted = dialect.body(name, dialect.change(relation, true))
  const changed = dialect.body(name, dialect.change(relation, false))
  const [summary, description] = split(readComment(relation.comment).description)
  const common = { tags: [name], ...(summary && { summary }), ...(description && { description }) }
  const done = {
    '204': dialect.answer('No Content'),
    '200': dialect.answer('The rows, with `return=representation`', rows),
  }
  return {
    ...(may.read && {
      get: {
        ...common,
        operationId: `read ${name}`,
        parameters: [...filters, ...use('select', 'order', 'range', 'limit', 'offset', 'prefer')],
        responses: { '200': dialect.answer('OK', rows), '206': dialect.answer('Partial Content', rows) },
      },
    }),
    ...(may.insert && {
      post: {
        ...common,
        operationId: `insert ${name}`,
        parameters: [...inserted.parameters, ...use('select', 'on_conflict', 'prefer')],
        ...inserted.rest,
        responses: { '201': dialect.answer('Created', rows) },
      },
    }),
    ...(may.update && {
      patch: {
        ...common,
        operationId: `update ${name}`,
        parameters: [...filters, ...changed.parameters, ...use('select', 'prefer')],
        ...changed.rest,
        responses: done,
      },
    }),
    ...(may.delete && {
      delete: {
        ...common,
        operationId: `delete ${name}`,
        parameters: [...filters, ...use('select', 'prefer')],
        responses: done,
      },
    }),
  }
}

function routinePath(routine: Routine, all: Pick<SchemaCatalog, 'relations' | 'routines'>, dialect: Dialect): Json {
  const overloads = all.routines.filter((other) => other.name === routine.name).length
  const [summary, description] = split(routine.comment)
  const notes = [
    description,
    overloads > 1 ? `One of ${overloads} overloads: which is called, the names of the arguments decide.` : null,
    `Returns ${routine.result}.`,
  ]
  const needed = routine.args.filter((arg) => !arg.optional).map((arg) => arg.name)
  const args: Json = {
    type: 'object',
    properties: Object.fromEntries(routine.args.map(({ name, type }) => [name, typeSchema(type)])),
    ...(needed.length > 0 && { required: needed }),
  }
  const body = dialect.body('args', args)
  const common = {
    tags: [`(rpc) ${routine.name}`],
    ...(summary && { summary }),
    description: notes.filter((note) => note).join('\n\n'),
    responses: { '200': dialect.answer('OK', resultSchema(routine.result, all.relations, dialect)) },
  }
  const inQuery = routine.args.map(({ name, type, optional }) => ({
    ...dialect.parameter('query', name, querySchema(type), type),
    required: !optional,
  }))
  return {
    ...(routine.readOnly && { get: { ...common, operationId: `get ${routine.name}`, parameters: inQuery } }),
    post: {
      ...common,
      operationId: `call ${routine.name}`,
      parameters: [...body.parameters, dialect.ref('parameter', 'prefer')],
      ...body.rest,
    },
  }
}

/** Result of a function: the rows of a table by its schema, other rows as objects. */
function resultSchema(result: string, relations: readonly Relation[], dialect: Dialect): Json | undefined {
  if (result === 'void') return undefined
  if (result.startsWith('TABLE(')) return { type: 'array', items: { type: 'object' } }
  const many = result.startsWith('SETOF ')
  const type = many ? result.slice('SETOF '.length) : result
  const row = relations.find(({ name }) => type === name || type.endsWith(`.${name}`))
  const schema = row ? dialect.ref('schema', row.name) : type === 'record' ? { type: 'object' } : typeSchema(type)
  return many ? { type: 'array', items: schema } : schema
}

function rowSchema({ columns, comment }: Relation, dialect: Dialect): Json {
  const required = columns.filter((column) => !column.nullable).map((column) => column.name)
  return {
    type: 'object',
    ...(comment && { description: comment }),
    ...(required.length > 0 && { required }),
    properties: propertiesOf(columns, dialect),
  }
}

function propertiesOf(columns: readonly Column[], dialect: Dialect): Json {
  return Object.fromEntries(
    columns.map((column) => [
      column.name,
      column.nullable ? dialect.nullable(columnSchema(column)) : columnSchema(column),
    ]),
  )
}

/** The first line of a comment is its summary, the rest its description. */
function split(comment: string | null): [string | null, string | null] {
  if (comment === null) return [null, null]
  const end = comment.indexOf('\n')
  return end < 0 ? [comment, null] : [comment.slice(0, end), comment.slice(end + 1).trim() || null]
}

/** A name within a JSON pointer within a URI fragment (RFC 6901). */
const pointer = (name: string) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
