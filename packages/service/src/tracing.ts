import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  context,
  propagation,
  trace,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api'
import type { GuardedFetch } from './fetch/guarded-fetch.ts'
import type { Http } from './http-type.ts'

/** Whether {@link openTracing} has an endpoint; until then all functions here do nothing. */
let isOpen = false

const tracer = trace.getTracer('terrane')

const carrier = {
  set: (headers: Record<string, string>, name: string, value: string) => {
    headers[name] = value
  },
}

/**
 * Sends traces to an OTLP endpoint; disposal sends the remaining ones. Null without an endpoint; then no SDK is loaded.
 * The SDK reads its other variables (`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_TRACES_SAMPLER`, …) itself.
 *
 * @param settings with `OTEL_EXPORTER_OTLP_ENDPOINT`, the base of the collector, e.g. `http://collector:4318`
 */
export async function openTracing(
  app: string,
  settings: { readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string },
): Promise<AsyncDisposable | null> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = settings
  if (endpoint === undefined) return null
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': `terrane-${app}` }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url, timeoutMillis: 5000 }))],
  })
  provider.register()
  isOpen = true
  return {
    async [Symbol.asyncDispose]() {
      isOpen = false
      // A collector that does not answer must not delay the shutdown.
      await provider.shutdown().catch(() => {})
      trace.disable()
      context.disable()
      propagation.disable()
    },
  }
}

/** The current trace as a `traceparent` of W3C; null without one. */
export function traceparent(): string | null {
  if (!isOpen) return null
  const headers: Record<string, string> = {}
  propagation.inject(context.active(), headers, carrier)
  return headers['traceparent'] ?? null
}

/** Runs work as a span of the current trace, or of the one that `traceparent` names. */
export async function inSpan<T>(
  name: string,
  work: () => Promise<T>,
  options: { readonly attributes?: Attributes; readonly traceparent?: string | null; readonly kind?: SpanKind } = {},
): Promise<T> {
  if (!isOpen) return work()
  const { kind = SpanKind.INTERNAL, attributes = {} } = options
  const parent = options.traceparent === undefined ? context.active() : contextOf(options.traceparent)
  return tracer.startActiveSpan(name, { kind, attributes }, parent, async (span) => {
    try {
      return await work()
    } catch (error) {
      fail(span, error)
      throw error
    } finally {
      span.end()
    }
  })
}

/** A span from a past time until now, such as the wait in a queue. */
export function spanSince(name: string, since: Date): void {
  if (isOpen) tracer.startSpan(name, { startTime: since }).end()
}

/** The id of the current trace, for log lines; null without one. */
export function traceId(): string | null {
  return isOpen ? (trace.getActiveSpan()?.spanContext().traceId ?? null) : null
}

/** Consecutive child spans of the current span, such as the phases of a job. */
export class Phases {
  #name: string | null = null
  #span: Span | null = null
  readonly #parent = context.active()

  /** Starts a phase and ends the one before it; null only ends it. */
  now(name: string | null): void {
    if (!isOpen || name === this.#name) return
    this.#span?.end()
    this.#name = name
    this.#span = name === null ? null : tracer.startSpan(name, {}, this.#parent)
  }
}

/** Makes asynchronous calls of an object spans, named after it and the method; only where there is tracing. */
export function tracedCalls<T extends object>(name: string, object: T): T {
  if (!isOpen) return object
  return new Proxy(object, {
    get(target, key, receiver) {
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        const call = () => (value as (...args: unknown[]) => unknown).apply(target, args)
        const span = tracer.startSpan(`${name}.${String(key)}`, { kind: SpanKind.CLIENT })
        const result = context.with(trace.setSpan(context.active(), span), call)
        if (result === target) return (span.end(), receiver as unknown)
        if (!(result instanceof Promise)) return (span.end(), result)
        return result
          .catch((error: unknown) => {
            fail(span, error)
            throw error
          })
          .finally(() => span.end())
      }
    },
  })
}

/** A fetch whose requests are spans. No trace header is sent: the host is chosen by callers and is not trusted. */
export function tracedFetch(fetch: GuardedFetch): GuardedFetch {
  if (!isOpen) return fetch
  return (url, options) => {
    const attributes = { 'server.address': URL.parse(url)?.host ?? '' }
    return inSpan(`fetch ${options?.method ?? 'GET'}`, () => fetch(url, options), { attributes, kind: SpanKind.CLIENT })
  }
}

/** Makes every request of an app a span, within the caller's trace if there is one, and its work a part of the span. */
export function traceRequests(app: Http): void {
  if (!isOpen) return
  const spans = new WeakMap<object, { readonly span: Span; readonly at: Context }>()
  app.addHook('onRequest', (request, _reply, done) => {
    const parent = contextOf(request.headers['traceparent'])
    const attributes = { 'http.request.method': request.method, 'terrane.request_id': request.id }
    const span = tracer.startSpan(request.method, { kind: SpanKind.SERVER, attributes }, parent)
    spans.set(request, { span, at: trace.setSpan(parent, span) })
    done()
  })
  // Reading a body loses the context of its request.
  app.addHook('preHandler', (request, _reply, done) => {
    const traced = spans.get(request)
    if (traced) context.with(traced.at, done)
    else done()
  })
  app.addHook('onResponse', async (request, reply) => {
    const span = spans.get(request)?.span
    const route = request.routeOptions.url ?? 'unknown'
    span?.updateName(`${request.method} ${route}`)
    span?.setAttributes({ 'http.route': route, 'http.response.status_code': reply.statusCode })
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR })
    span?.end()
  })
}

function contextOf(header: string | readonly string[] | null | undefined): Context {
  return typeof header === 'string' ? propagation.extract(ROOT_CONTEXT, { traceparent: header }) : ROOT_CONTEXT
}

function fail(span: Span, error: unknown): void {
  // Its message may contain data that only its owner may see.
  span.setStatus({ code: SpanStatusCode.ERROR, message: (error as { code?: string }).code ?? 'failed' })
}
