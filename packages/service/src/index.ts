export { AwsVariables, Setting } from './settings/schema.ts'
export type { Config } from './settings/schema.ts'
export { readSettings } from './settings/read-settings.ts'
export { createLogger } from './logger.ts'
export type { Logger } from './logger.ts'
export { boundBody, refuseCostlyJson } from './edge/bodies.ts'
export { discardRest, outlastAnswer } from './edge/discard-refused.ts'
export { networkOf } from './edge/network.ts'
export { clientAddress } from './edge/client-address.ts'
export { RateLimits, credentialOf, rateSubject } from './edge/rate-limits.ts'
export { hasBody } from './edge/upload-rate.ts'
export { readParameters } from './edge/parameters.ts'
export { isOfTheOrigin, strangersPolicy } from './edge/shared-origin.ts'
export { readEdge } from './edge/settings.ts'
export type { EdgeSettings } from './edge/settings.ts'
export { acceptEmptyDeletes, createHttp } from './http.ts'
export type { Http, HttpOptions } from './http.ts'
export { problemHandler, statusOf, toProblem } from './problem.ts'
export { showDisks, showPool, showStorageCalls } from './dependency-metrics.ts'
export { addHealth } from './health.ts'
export type { ReadinessCheck } from './health.ts'
export { Counter, Gauge, Histogram, addMetrics, createRegistry, onScrape } from './metrics.ts'
export type { Registry } from './metrics.ts'
export { addOpenApi } from './openapi.ts'
export { Phases, inSpan, openTracing, spanSince, traceId, tracedCalls, tracedFetch, traceparent } from './tracing.ts'
export { onWebSocket, switchingHead } from './websocket.ts'
export type { Upgrade } from './websocket.ts'
export { serve, stopRequested } from './serve.ts'
export type { ServeOptions, StopPhases } from './serve.ts'
export { checkUrl, createGuardedFetch, resolvePublicHost } from './fetch/guarded-fetch.ts'
export type {
  DialTarget,
  Dialer,
  FetchOptions,
  FetchPolicy,
  FetchResponse,
  GuardedFetch,
  Resolver,
} from './fetch/guarded-fetch.ts'
export { downloadToFile } from './fetch/download.ts'
export { parseForeignJson, readBytes, readJson } from './fetch/read-answer.ts'
export { createSealer, parseSecretsKey, readSecretsKey } from './seal.ts'
export type { Sealer } from './seal.ts'
