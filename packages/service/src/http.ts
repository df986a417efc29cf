import { randomUUID } from 'node:crypto'
import { Problem, type Named } from '@terrane/contracts'
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { refuseCostlyJson } from './edge/bodies.ts'
import { listRoutes } from './edge/route-list.ts'
import { dropUnreadBodies } from './edge/unread-bodies.ts'
import { parseQuerystring, requireDeclaredOnce } from './edge/parameters.ts'
import { MIN_UPLOAD_RATE, requireUploadRate, type UploadRate } from './edge/upload-rate.ts'
import { BARE_EDGE, type EdgeSettings } from './edge/settings.ts'
import { notFound } from './errors.ts'
import type { Http } from './http-type.ts'
import type { Logger } from './logger.ts'
import { problemHandler } from './problem.ts'
import { LateSchemas } from './schemas.ts'
import { traceRequests } from './tracing.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Successful answers are logged at `debug`, because pollers and maps repeat the same requests. */
    readonly quiet?: boolean
  }
}

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
  /** Trusted proxies and rate limits; none when absent. */
  readonly edge?: EdgeSettings
  /** Longest time for a whole request to arrive, in milliseconds; 0, for apps that take uploads, leaves it to `uploadRate`. */
  readonly longestRequestMs?: number
  /** Minimum upload rate of a request body; tests shorten it. */
  readonly uploadRate?: UploadRate
}

/** Timeout of a request's head, and interval of the timeout checks, in milliseconds. */
const HEADERS_MS = 15_000
const LOOK_MS = 2000
const LONGEST_REQUEST_MS = 120_000

const REQUEST_ID = /^[\w.:/+=-]{1,128}$/

/** Makes an app's HTTP server, not yet listening: request ids, validation, problem answers also for unknown routes. */
export function createHttp(options: HttpOptions): Http {
  const loggerInstance: FastifyBaseLogger = options.logger
  const { trustedProxies } = options.edge ?? BARE_EDGE
  const requestTimeout = options.longestRequestMs ?? LONGEST_REQUEST_MS
  const schemas = new LateSchemas()
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyLimit ?? 1024 * 1024,
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    // Interval of Node's check of timeouts; by default a timeout may be detected half a minute late.
    http: {
      headersTimeout: Math.min(HEADERS_MS, requestTimeout || HEADERS_MS),
      connectionsCheckingInterval: LOOK_MS,
      requestTimeout,
    },
    requestTimeout,
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
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096, querystringParser: parseQuerystring },
    forceCloseConnections: 'idle',
    schemaController: { compilersFactory: { buildSerializer: schemas.buildSerializer } },
  }).withTypeProvider<TypeBoxTypeProvider>()

  // The handler is set before any route: otherwise a declared 4xx schema would turn Fastify's own 400 into a 500.
  app.setErrorHandler(problemHandler)
  app.setNotFoundHandler((request) => {
    throw notFound({ method: request.method, path: request.url.split('?')[0] ?? '/' })
  })
  app.removeContentTypeParser('text/plain')
  app.addSchema(Problem)
  for (const schema of options.schemas ?? []) app.addSchema(schema)
  schemas.install(app)

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('preValidation', requireDeclaredOnce)
  traceRequests(app)
  listRoutes(app)
  if (trustedProxies.length === 0) noticeProxies(app)
  requireUploadRate(app, options.uploadRate ?? MIN_UPLOAD_RATE)
  dropUnreadBodies(app)
  parseJson(app, false)
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

/** Accepts a DELETE without a body of any content type, because many clients send `application/json` with all. */
export function acceptEmptyDeletes(scope: Http): void {
  parseJson(scope, true)
}

/** Logs once that requests come through an untrusted proxy: all of its callers are counted as one. */
function noticeProxies(app: Http): void {
  let noticed = false
  app.addHook('onRequest', async ({ headers, ip, log }) => {
    if (noticed || headers['x-forwarded-for'] === undefined) return
    noticed = true
    log.warn(
      { proxy: ip, setting: 'TERRANE_TRUSTED_PROXIES' },
      'a proxy that is not trusted names the callers: limits count them all as one address',
    )
  })
}

function parseJson(scope: Http, emptyDeletes: boolean): void {
  const parse = scope.getDefaultJsonParser('error', 'error')
  scope.removeContentTypeParser('application/json')
  scope.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (emptyDeletes && body === '' && request.method === 'DELETE') return done(null)
    try {
      refuseCostlyJson(body)
    } catch (error) {
      return done(error as Error)
    }
    void parse(request, body, done)
  })
}

function withoutPrefix(url: string, prefix: string | undefined): string {
  if (prefix === undefined || !url.startsWith(prefix)) return url
  const rest = url.slice(prefix.length)
  if (rest === '' || rest.startsWith('?')) return `/${rest}`
  return rest.startsWith('/') ? rest : url
}
