import { Problem, ref } from '@terrane/contracts'
import { FUNCTION_NAME_PATTERN } from '@terrane/contracts/names'
import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import { serviceDown } from '../errors.ts'
import { projectOf } from '../sessions/guard.ts'
import { pathOf, send, type Ask } from '../upstream/ask.ts'
import { relay } from '../upstream/relay.ts'

const FunctionParams = Type.Object({
  ref: Type.String(),
  name: Type.String({ pattern: FUNCTION_NAME_PATTERN }),
})
const LogsQuery = Type.Object(
  {
    limit: Type.Integer({ default: 100, minimum: 0, maximum: 1000 }),
    search: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  { additionalProperties: false },
)
/** The query in the form of the functions host. */
function logQuery({ limit, search }: Static<typeof LogsQuery>): URLSearchParams {
  return new URLSearchParams({ limit: String(limit), ...(search !== undefined && { search }) })
}

const Deploy = Type.Object(
  { files: Type.Record(Type.String({ maxLength: 300 }), Type.Unknown(), { maxProperties: 2000 }) },
  { additionalProperties: false, description: 'As the functions host wants it: files by their path, text or base64.' },
)
const Rollback = Type.Object({ version: Type.Integer({ minimum: 1 }) }, { additionalProperties: false })
const Call = Type.Object(
  {
    method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'], { default: 'POST' }),
    path: Type.String({ default: '', maxLength: 2000, description: 'What comes after the name of the function.' }),
    query: Type.String({ default: '', maxLength: 4000 }),
    body: Type.Optional(Type.String({ maxLength: 10_000_000, description: 'JSON text.' })),
    role: Type.Enum(['anon', 'service'], { default: 'anon', description: 'Whose key the console sends along.' }),
  },
  { additionalProperties: false },
)
const Answer = Type.Object({
  status: Type.Integer(),
  headers: Type.Record(Type.String(), Type.String()),
  body: Type.String(),
  truncated: Type.Boolean({ description: 'True when the body is longer than what is shown.' }),
  bytes: Type.Integer(),
  ms: Type.Number(),
})

/** Maximum bytes of a function's answer that the page gets. */
const SHOWN_BYTES = 262_144
/** The longest time that a host allows a function, with a margin. */
const CALL_TIMEOUT_MS = 410_000

/**
 * Functions of a project: list, versions, minutes, deploy, rollback, removal, log, and a test call. The call's answer is wrapped
 * in a successful one, so that its 401 is not taken for the console's.
 */
export function functionRoutes(app: Http): void {
  const LIST = '/api/projects/:ref/functions'
  const ONE = `${LIST}/:name`
  app.get(LIST, (request, reply) => control(request, reply, []))
  for (const part of ['versions', 'minutes'])
    app.get(`${ONE}/${part}`, { schema: { params: FunctionParams } }, (request, reply) =>
      control(request, reply, [request.params.name, part]),
    )
  app.put(ONE, { schema: { params: FunctionParams, body: Deploy } }, (request, reply) =>
    control(request, reply, [request.params.name], { body: JSON.stringify(request.body) }),
  )
  app.delete(ONE, { schema: { params: FunctionParams } }, (request, reply) =>
    control(request, reply, [request.params.name]),
  )
  app.post(`${ONE}/rollback`, { schema: { params: FunctionParams, body: Rollback } }, (request, reply) =>
    control(request, reply, [request.params.name, 'rollback'], { body: JSON.stringify(request.body) }),
  )
  app.get(`${ONE}/logs`, { schema: { params: FunctionParams, querystring: LogsQuery } }, (request, reply) =>
    control(request, reply, [request.params.name, 'logs'], { query: logQuery(request.query) }),
  )
  app.post(
    '/api/projects/:ref/functions/:name/call',
    {
      schema: {
        params: FunctionParams,
        body: Call,
        response: { 200: Answer, '4xx': ref(Problem), '5xx': ref(Problem) },
      },
    },
    async (request, reply) => {
      const { method, path, query, body, role } = request.body
      const to = projectOf(request).connection.functionCalls(role)
      const started = performance.now()
      const response = await send(request, reply, to, {
        method,
        path: pathOf(request.params.name, ...path.split('/').filter((segment) => segment !== '')),
        query: new URLSearchParams(query),
        timeoutMs: CALL_TIMEOUT_MS,
        headers: { accept: '*/*' },
        ...(body !== undefined && method !== 'GET' && method !== 'HEAD' && { body }),
      })
      const shown = await readSome(response).catch((cause: unknown) => {
        throw serviceDown({ service: to.service }, { cause })
      })
      return { ...shown, ms: Math.round((performance.now() - started) * 10) / 10 }
    },
  )
}

/** Sends a request to the deploy API of the functions host. */
function control(
  request: FastifyRequest,
  reply: FastifyReply,
  segments: readonly string[],
  what: Pick<Ask, 'body' | 'query'> = {},
): Promise<FastifyReply> {
  const project = projectOf(request)
  const path = pathOf('v1', 'projects', project.ref, 'functions', ...segments)
  return relay(request, reply, project.connection.functionsControl(), { ...what, path })
}

async function readSome(response: Response) {
  const decoder = new TextDecoder()
  let body = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    const part = chunk as Uint8Array
    if (bytes < SHOWN_BYTES) body += decoder.decode(part.subarray(0, SHOWN_BYTES - bytes), { stream: true })
    bytes += part.byteLength
    if (bytes > SHOWN_BYTES) break
  }
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: body + decoder.decode(),
    truncated: bytes > SHOWN_BYTES,
    bytes,
  }
}
