import { randomUUID } from 'node:crypto'
import { Problem, type Named } from '@terrane/contracts'
import addFormats from 'ajv-formats'
import { Ajv } from 'ajv'
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RawServerDefault,
} from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { notFound } from './errors.ts'
import type { Logger } from './logger.ts'
import { problemHandler } from './problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers that went well are logged at `debug`: the route is asked again and again by pollers and maps. */
    readonly quiet?: boolean
  }
}

/** The Fastify instance of every app: schemas are TypeBox, errors are problems. */
export type Http = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export interface HttpOptions {
  readonly logger: Logger
  /** Largest request body in bytes; 1 MiB when absent. */
  readonly bodyLimit?: number
  /** Schemas that routes use by reference; Problem is always among them. */
  readonly schemas?: readonly Named[]
  /** Path prefix under which the same routes answer too, e.g. `/worker`. */
  readonly mountedAt?: string
  /** Answers requests whose path cannot be read, before any route is known; a problem unless given. */
  readonly onUnreadablePath?: (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => void
  /** True behind a proxy whose X-Forwarded-* headers are to be believed, or the addresses of such, comma-separated. */
  readonly trustProxy?: boolean | string
}

const REQUEST_ID = /^[\w.:/+=-]{1,128}$/

/**
 * Makes an app's HTTP server, not yet listening: request ids (`x-request-id` accepted when sane, else made; echoed),
 * validation (bodies as they are, query and path converted), problem answers, also for unknown routes.
 */
export function createHttp(options: HttpOptions): Http {
  const loggerInstance: FastifyBaseLogger = options.logger
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyLimit ?? 1024 * 1024,
    trustProxy: options.trustProxy ?? false,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    },
    rewriteUrl: (request) => withoutPrefix(request.url ?? '/', options.mountedAt),
    frameworkErrors: (error, request, reply) => {
      void reply.header('x-request-id', request.id)
      const answer = options.onUnreadablePath ?? problemHandler
      answer(error, request, reply)
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096 },
    forceCloseConnections: 'idle',
  }).withTypeProvider<TypeBoxTypeProvider>()

  // The handler stands before any route: a declared 4xx schema would otherwise turn Fastify's own 400 into a 500.
  app.setErrorHandler(problemHandler)
  app.setNotFoundHandler((request) => {
    throw notFound({ method: request.method, path: request.url.split('?')[0] ?? '/' })
  })
  app.removeContentTypeParser('text/plain')
  app.addSchema(Problem)
  for (const schema of options.schemas ?? []) app.addSchema(schema)
  installValidators(app)

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  // A caller whose answer comes while the server closes must not send its next request on the same connection.
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', async (_, reply) => {
    if (isClosing) reply.header('connection', 'close')
  })
  app.addHook('onResponse', async (request, reply) => {
    const quiet = request.routeOptions.config.quiet === true && reply.statusCode < 400
    request.log[quiet ? 'debug' : 'info'](
      {
        method: request.method,
        path: request.url.split('?')[0],
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    )
  })
  return app
}

/**
 * Has the routes of a scope take a DELETE without a body whatever its content type: many clients send
 * `Content-Type: application/json` with everything.
 */
export function acceptEmptyDeletes(scope: Http): void {
  const parse = scope.getDefaultJsonParser('error', 'error')
  scope.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '' && request.method === 'DELETE') done(null)
    else void parse(request, body, done)
  })
}

function withoutPrefix(url: string, prefix: string | undefined): string {
  if (prefix === undefined || !url.startsWith(prefix)) return url
  const rest = url.slice(prefix.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}

/** Texts of the query and the path become numbers and booleans where the schema says so; bodies are never converted. */
function installValidators(app: Http): void {
  const shared = { useDefaults: true, removeAdditional: false, allErrors: true, strict: false } as const
  const strict = addFormats.default(new Ajv({ ...shared, coerceTypes: false }))
  const lenient = addFormats.default(new Ajv({ ...shared, coerceTypes: true }))
  app.setValidatorCompiler(({ schema, httpPart }) => {
    const ajv = httpPart === 'body' ? strict : lenient
    for (const known of Object.values(app.getSchemas()) as { $id: string }[]) {
      if (!ajv.getSchema(known.$id)) ajv.addSchema(known)
    }
    return ajv.compile(schema as object)
  })
}
