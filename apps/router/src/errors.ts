import { defineError } from '@terrane/core'
import { problemBody, type ProblemBody } from '@terrane/routing'

/** Errors of this server that Valhalla does not have: the same body, with numbers derived from the HTTP status. */
export const ANSWERS = {
  wrongMethod: problemBody(101, 'Try a POST or GET request instead', 405),
  jsonRepeated: problemBody(100, 'Parameter json is given more than once: send it once', 400),
  parameterRepeated: problemBody(400_001, 'A parameter is given more than once: send each once', 400),
  keyMissing: problemBody(401_001, 'No key was sent: add it as query apikey or header apikey', 401),
  keyUnknown: problemBody(401_002, 'The key is not known', 401),
  keyOfNoUse: problemBody(403_001, 'This key has no access to routing', 403),
  bodyTooSlow: problemBody(408_001, 'The request body did not arrive fast enough', 408),
  bodyTooLarge: problemBody(413_001, 'The request body is larger than this server accepts', 413),
  contentTypeUnreadable: problemBody(415_001, 'The content type cannot be read: send application/json', 415),
  tooMany: problemBody(429_001, 'Too many requests: wait as long as Retry-After says', 429),
  elevationNotServed: problemBody(
    501_001,
    'Elevation is not served here: ask a Valhalla server with elevation tiles',
    501,
  ),
  starting: problemBody(503_001, 'The routing graph is not ready yet', 503),
  busy: problemBody(503_002, 'Too many requests are waiting', 503),
  keysUnavailable: problemBody(503_003, 'Keys cannot be looked up at the moment', 503),
  tookTooLong: problemBody(504_001, 'The route took longer than this server may spend on one request', 504),
} as const satisfies Readonly<Record<string, ProblemBody>>

/** A refusal of a request, thrown while it is answered. */
export class Refusal extends Error {
  readonly body: ProblemBody
  /** Seconds after which the same request may succeed. */
  readonly retrySeconds: number | null

  constructor(body: ProblemBody, retrySeconds: number | null = null) {
    super(body.error)
    this.body = body
    this.retrySeconds = retrySeconds
  }
}

/** The settings do not name the accepted keys. */
export const keysMissing = defineError<{ reason: string }>(
  'ROUTER_KEYS_MISSING',
  'invalid',
  ({ reason }) => `The router needs DATABASE_URL or TERRANE_ACCEPTED_KEYS: ${reason}`,
  () => ({
    hint: 'Set DATABASE_URL to the control plane; a standalone router needs the SHA-256 hashes of its keys in TERRANE_ACCEPTED_KEYS: printf %s "$KEY" | sha256sum.',
  }),
)

/** Neither extracts nor a graph file were given. */
export const nothingToServe = defineError<{ path: string; reason: string }>(
  'NOTHING_TO_SERVE',
  'invalid',
  ({ path, reason }) => `There is no routing graph to serve: ${path} cannot be used (${reason})`,
  () => ({
    hint: 'Set TERRANE_ROUTING_OSM to OpenStreetMap extracts (files or URLs), or TERRANE_ROUTING_GRAPH to a graph file.',
  }),
)

/** A configured extract cannot be read. */
export const extractMissing = defineError<{ name: string; reason: string }>(
  'EXTRACT_MISSING',
  'invalid',
  ({ name, reason }) => `TERRANE_ROUTING_OSM: ${name} cannot be read (${reason})`,
)

/** The folder of a graph or of a downloaded extract cannot be written. */
export const folderUnwritable = defineError<{ folder: string; reason: string }>(
  'GRAPH_FOLDER_UNWRITABLE',
  'unavailable',
  ({ folder, reason }) => `TERRANE_ROUTING_GRAPH: the folder ${folder} is not writable (${reason})`,
  () => ({ hint: 'Make that folder writable for the router, with room for two graphs and for downloaded extracts.' }),
)

/** The process that builds the graph ended without one. */
export const buildFailed = defineError<{ reason: string }>(
  'GRAPH_BUILD_FAILED',
  'internal',
  ({ reason }) => `Building the routing graph failed: ${reason}`,
)
