import { ACTIONS, DEFAULT_LIMITS, MODES, type Action, type Mode } from '@terrane/routing'
import { splitList } from '@terrane/core'
import { Setting, readSettings, type Config } from '@terrane/service'
import { Type, type TInteger, type TObject } from 'typebox'

const limit = (fallback: number, minimum: number, description: string, formerly: string) =>
  Setting.Count(fallback, minimum, description, `TERRANE_ROUTING_${formerly}`)

function perMode<T>(of: (mode: Mode, prefix: string) => T): Record<Mode, T> {
  return Object.fromEntries(MODES.map((mode) => [mode, of(mode, mode.toUpperCase())])) as Record<Mode, T>
}

const { isochrone, matrix, modes, trace } = DEFAULT_LIMITS

/** Limits of one request, in the shape of `Limits`. The defaults are Valhalla's. */
const limits = Type.Object({
  modes: Type.Object(
    perMode((mode, prefix): TObject<{ locations: TInteger; meters: TInteger }> =>
      Type.Object({
        locations: limit(modes[mode].locations, 2, `Maximum locations of costing ${mode}.`, `${prefix}_MAX_LOCATIONS`),
        meters: limit(
          modes[mode].meters,
          0,
          `Maximum beeline along locations of costing ${mode}.`,
          `${prefix}_MAX_METERS`,
        ),
      }),
    ),
  ),
  excludeLocations: limit(DEFAULT_LIMITS.excludeLocations, 0, 'Maximum exclude_locations.', 'MAX_EXCLUDE_LOCATIONS'),
  excludePolygonMeters: limit(
    DEFAULT_LIMITS.excludePolygonMeters,
    0,
    'Maximum way around all exclude_polygons together.',
    'MAX_EXCLUDE_METERS',
  ),
  alternates: limit(DEFAULT_LIMITS.alternates, 0, 'Maximum alternates.', 'MAX_ALTERNATES'),
  radius: limit(DEFAULT_LIMITS.radius, 0, 'Maximum radius of a location, in meters.', 'MAX_RADIUS_METERS'),
  reachability: limit(
    DEFAULT_LIMITS.reachability,
    0,
    'Maximum minimum_reachability of a location.',
    'MAX_REACHABILITY',
  ),
  matrix: Type.Object({
    pairs: limit(matrix.pairs, 1, 'Maximum sources times targets of a matrix.', 'MAX_MATRIX_PAIRS'),
    meters: Type.Object(
      perMode((mode, prefix) =>
        limit(
          matrix.meters[mode],
          0,
          `Maximum beeline from a source to a target of costing ${mode}.`,
          `${prefix}_MAX_MATRIX_METERS`,
        ),
      ),
    ),
  }),
  isochrone: Type.Object({
    contours: limit(isochrone.contours, 1, 'Maximum contours of an isochrone.', 'MAX_CONTOURS'),
    minutes: limit(isochrone.minutes, 1, 'Maximum time of a contour.', 'MAX_CONTOUR_MINUTES'),
    kilometers: limit(isochrone.kilometers, 1, 'Maximum distance of a contour.', 'MAX_CONTOUR_KILOMETERS'),
  }),
  trace: Type.Object({
    points: Setting.Count(trace.points, 2, 'Maximum points of a trace.'),
    meters: Setting.Count(trace.meters, 0, 'Maximum length of a trace.'),
    radius: Setting.Count(trace.radius, 1, 'Maximum search_radius of a trace, in meters.'),
  }),
  locate: limit(DEFAULT_LIMITS.locate, 1, 'Maximum locations that locate looks up at once.', 'MAX_LOCATE_LOCATIONS'),
})

const variables = {
  PORT: Setting.Port(8002),
  DATABASE_URL: Type.Optional(Setting.Secret('PostgreSQL of the control plane, which says whose keys are accepted.')),
  TERRANE_ACCEPTED_KEYS: Setting.List(
    'A router without DATABASE_URL: SHA-256 (hex) of the keys that it accepts, comma-separated.',
  ),
  TERRANE_ROUTING_OSM: Setting.List(
    'OpenStreetMap extracts, files or URLs, comma-separated; together they are one graph.',
  ),
  TERRANE_ROUTING_GRAPH: Type.String({
    default: '.terrane/routing/graph.bin',
    description: 'The graph file. It is made from the extracts; without extracts it must be there.',
  }),
  TERRANE_ROUTING_DRIVING_SIDE: Type.Enum(['country', 'left', 'right'], {
    default: 'country',
    description:
      'country: the side to drive on, default access and legal speeds follow from the country of each way. left or right: that side everywhere, and no rule of any country; left is what Valhalla takes where it knows no countries. driving_side on a way always counts.',
  }),
  TERRANE_FETCH_ALLOW_HOSTS: Setting.List(
    'Hosts (name or name:port) that may be private and speak http, comma-separated.',
  ),
  TERRANE_FETCH_ALLOW_HTTP: Type.Boolean({ default: false, description: 'Accept http URLs of public hosts.' }),
  TERRANE_ROUTING_THREADS: Setting.Count(
    0,
    [0, 256],
    'Threads that compute routes; 0 = one per core of the CPU quota, and at most one per 256 MiB of the memory limit.',
  ),
  TERRANE_ROUTING_ACTIONS: Type.String({
    default: ACTIONS.join(','),
    pattern: `^ *(${ACTIONS.join('|')})( *, *(${ACTIONS.join('|')}))* *$`,
    description:
      'Served actions, comma-separated: route, sources_to_targets (with table), optimized_route (with trip), isochrone, trace_route (with match), trace_attributes, locate, tile, status.',
  }),
  TERRANE_CORS_ORIGINS: Setting.List('Origins that browsers may call from.', '*'),
}

const file = {
  limits,
  timeoutMs: Setting.Count(
    10_000,
    [10, 2_147_483_647],
    'Maximum computation of one answer; longer ones are ended and answered 504.',
    'TERRANE_ROUTING_TIMEOUT_MS',
  ),
  queue: Setting.Count(
    1000,
    1,
    'Maximum requests that wait for a thread; more are answered 503.',
    'TERRANE_ROUTING_QUEUE',
  ),
  costings: Setting.Count(
    8,
    1,
    'Costings with options of their own that each thread keeps prepared.',
    'TERRANE_ROUTING_COSTINGS',
  ),
  bodyLimitBytes: Setting.Count(1_048_576, 1024, 'Maximum request body.', 'TERRANE_BODY_LIMIT_BYTES'),
  watchMs: Setting.Count(
    5000,
    [0, 2_147_483_647],
    'Interval at which files are checked for changes; 0 = only at SIGHUP.',
    'TERRANE_ROUTING_WATCH_MS',
  ),
  maxExtractBytes: Setting.Count(
    107_374_182_400,
    1,
    'Maximum extract to download.',
    'TERRANE_ROUTING_MAX_EXTRACT_BYTES',
  ),
  downloadTimeoutMs: Setting.Count(
    3_600_000,
    [1000, 2_147_483_647],
    'Maximum download of one extract.',
    'TERRANE_ROUTING_DOWNLOAD_TIMEOUT_MS',
  ),
  construction: Type.Boolean({
    default: false,
    description: 'Keep streets under construction in the graph, for requests with ignore_construction.',
    formerly: 'TERRANE_ROUTING_CONSTRUCTION',
  }),
  graphMemory: Type.Enum(['auto', 'mapped', 'copied'], {
    default: 'auto',
    description:
      'mapped: the graph file is mapped into memory, which routers on one file share; copied: each router has a copy of its own. auto: mapped where the router makes the graph itself and it lies on a local disk (Linux), copied where others may overwrite it.',
    formerly: 'TERRANE_ROUTING_MEMORY',
  }),
  search: Type.Enum(['hierarchy', 'ngraph.path'], {
    default: 'hierarchy',
    description:
      'Search engine. ngraph.path is an independent library for comparing answers: it needs no preparation, is many times slower, and has no alternates.',
    formerly: 'TERRANE_ROUTING_SEARCH',
  }),
}

/** The router's settings; docs/settings.md and `.env.example` are written from them. */
export const settings = { app: 'router', variables, file }
export type RouterConfig = Config<typeof settings> & { readonly actions: readonly Action[] }

/** The router's configuration. @throws INVALID_CONFIG with every problem */
export function readConfig(env: Readonly<Record<string, string | undefined>>): RouterConfig {
  const config = readSettings(settings, env)
  const actions = splitList(config.TERRANE_ROUTING_ACTIONS)
  return { ...config, actions: ACTIONS.filter((action) => actions.includes(action)) }
}
