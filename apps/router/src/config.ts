import { type Action, ACTIONS, DEFAULT_LIMITS, MODES, type Limits, type Mode } from '@terrane/routing'
import { ControlEnv } from '@terrane/control'
import { splitList } from '@terrane/core'
import { List, Secret, ServiceEnv, readEnv } from '@terrane/service'
import { Type, type Static, type TInteger } from 'typebox'

/** The limits that are not per mode of travel. */
const SHARED_LIMITS = {
  TERRANE_ROUTING_MAX_EXCLUDE_LOCATIONS: limit(DEFAULT_LIMITS.excludeLocations, 'Most exclude_locations.'),
  TERRANE_ROUTING_MAX_EXCLUDE_METERS: limit(
    DEFAULT_LIMITS.excludePolygonMeters,
    'Longest way around all exclude_polygons together.',
  ),
  TERRANE_ROUTING_MAX_ALTERNATES: limit(DEFAULT_LIMITS.alternates, 'Most alternates.'),
  TERRANE_ROUTING_MAX_RADIUS_METERS: limit(DEFAULT_LIMITS.radius, 'Largest radius of a location.'),
  TERRANE_ROUTING_MAX_REACHABILITY: limit(DEFAULT_LIMITS.reachability, 'Largest minimum_reachability of a location.'),
  TERRANE_ROUTING_MAX_MATRIX_PAIRS: limit(DEFAULT_LIMITS.matrix.pairs, 'Most sources times targets of a matrix.', 1),
  TERRANE_ROUTING_MAX_CONTOURS: limit(DEFAULT_LIMITS.isochrone.contours, 'Most contours of an isochrone.', 1),
  TERRANE_ROUTING_MAX_CONTOUR_MINUTES: limit(DEFAULT_LIMITS.isochrone.minutes, 'Longest time of a contour.', 1),
  TERRANE_ROUTING_MAX_CONTOUR_KILOMETERS: limit(
    DEFAULT_LIMITS.isochrone.kilometers,
    'Longest distance of a contour.',
    1,
  ),
  TERRANE_ROUTING_MAX_LOCATE_LOCATIONS: limit(DEFAULT_LIMITS.locate, 'Most locations that locate looks up at once.', 1),
}

/** Three limits per mode of travel. */
const MODE_LIMITS: Readonly<Record<string, TInteger>> = Object.fromEntries(
  MODES.flatMap((mode) => [
    [locationsOf(mode), limit(DEFAULT_LIMITS.modes[mode].locations, `Most locations of costing ${mode}.`, 2)],
    [metersOf(mode), limit(DEFAULT_LIMITS.modes[mode].meters, `Longest beeline along locations of costing ${mode}.`)],
    [
      matrixMetersOf(mode),
      limit(DEFAULT_LIMITS.matrix.meters[mode], `Longest beeline from a source to a target of costing ${mode}.`),
    ],
  ]),
)

const Named = Type.Object({
  ...ServiceEnv,
  PORT: Type.Integer({ default: 8002, minimum: 0, maximum: 65_535, description: 'Port to listen on.' }),
  DATABASE_URL: Type.Optional(Secret('PostgreSQL of the control plane, which says whose keys are accepted.')),
  TERRANE_ACCEPTED_KEYS: List(
    'A router without DATABASE_URL: SHA-256 (hex) of the keys that it accepts, comma-separated.',
  ),
  ...ControlEnv,
  TERRANE_ROUTING_OSM: List('OpenStreetMap extracts, files or URLs, comma-separated; together they are one graph.'),
  TERRANE_ROUTING_GRAPH: Type.String({
    default: '.terrane/routing/graph.bin',
    description: 'The graph file. It is made from the extracts; without extracts it must be there.',
  }),
  TERRANE_ROUTING_MEMORY: Type.Enum(['auto', 'mapped', 'copied'], {
    default: 'auto',
    description:
      'mapped: the graph file is mapped into memory, which routers on one file share; copied: each router has a copy of its own. auto: mapped where the router makes the graph itself and it lies on a local disk (Linux), copied where others may overwrite it.',
  }),
  TERRANE_ROUTING_DRIVING_SIDE: Type.Enum(['country', 'left', 'right'], {
    default: 'country',
    description:
      'country: the side to drive on, default access and legal speeds follow from the country of each way. left or right: that side everywhere, and no rule of any country; left is what Valhalla takes where it knows no countries. driving_side on a way always counts.',
  }),
  TERRANE_ROUTING_CONSTRUCTION: Type.Boolean({
    default: false,
    description: 'Keep streets under construction in the graph, for requests with ignore_construction.',
  }),
  TERRANE_ROUTING_WATCH_MS: Type.Integer({
    default: 5000,
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'How often files are looked at for changes; 0 = only at SIGHUP.',
  }),
  TERRANE_ROUTING_MAX_EXTRACT_BYTES: Type.Integer({
    default: 107_374_182_400,
    minimum: 1,
    description: 'Largest extract that is downloaded.',
  }),
  TERRANE_ROUTING_DOWNLOAD_TIMEOUT_MS: Type.Integer({
    default: 3_600_000,
    minimum: 1000,
    maximum: 2_147_483_647,
    description: 'Longest download of one extract.',
  }),
  TERRANE_FETCH_ALLOW_HOSTS: List('Hosts (name or name:port) that may be private and speak http, comma-separated.'),
  TERRANE_FETCH_ALLOW_HTTP: Type.Boolean({ default: false, description: 'Accept http URLs of public hosts.' }),
  TERRANE_ROUTING_THREADS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 256,
    description:
      'Threads that compute routes; 0 = one per core of the CPU quota, and at most one per 256 MiB of the memory limit.',
  }),
  TERRANE_ROUTING_QUEUE: Type.Integer({
    default: 1000,
    minimum: 1,
    description: 'Most requests that wait for a thread; more are answered 503.',
  }),
  TERRANE_ROUTING_TIMEOUT_MS: Type.Integer({
    default: 10_000,
    minimum: 10,
    maximum: 2_147_483_647,
    description: 'Longest computation of one answer; longer ones are ended and answered 504.',
  }),
  TERRANE_ROUTING_COSTINGS: Type.Integer({
    default: 8,
    minimum: 1,
    description: 'Costings with options of their own that each thread keeps prepared.',
  }),
  TERRANE_ROUTING_ACTIONS: Type.String({
    default: ACTIONS.join(','),
    pattern: `^ *(${ACTIONS.join('|')})( *, *(${ACTIONS.join('|')}))* *$`,
    description:
      'What is served, comma-separated: route, sources_to_targets (with table), isochrone, locate, tile, status.',
  }),
  TERRANE_ROUTING_SEARCH: Type.Enum(['hierarchy', 'ngraph.path'], {
    default: 'hierarchy',
    description:
      'What finds the paths. ngraph.path is a library of others that needs no preparation: many times slower, without alternates, to compare answers with.',
  }),
  TERRANE_BODY_LIMIT_BYTES: Type.Integer({
    default: 1_048_576,
    minimum: 1024,
    description: 'Largest request body.',
  }),
  TERRANE_CORS_ORIGINS: List('Origins that browsers may call from.', '*'),
  ...SHARED_LIMITS,
})

/** Every variable the router reads. */
export const Env = Type.Object({ ...Named.properties, ...MODE_LIMITS })

export type RouterConfig = Readonly<Static<typeof Named>> & {
  /** The limits of one request, from the variables that name them. */
  readonly limits: Limits
  readonly actions: readonly Action[]
}

/**
 * The router's configuration.
 *
 * @throws INVALID_CONFIG with every problem
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): RouterConfig {
  const config = readEnv(Env, env) as Readonly<Static<typeof Named>>
  const numbers = config as unknown as Readonly<Record<string, number>>
  const modes = Object.fromEntries(
    MODES.map((mode) => [mode, { locations: numbers[locationsOf(mode)]!, meters: numbers[metersOf(mode)]! }]),
  ) as Limits['modes']
  const meters = Object.fromEntries(
    MODES.map((mode) => [mode, numbers[matrixMetersOf(mode)]!]),
  ) as Limits['matrix']['meters']
  return {
    ...config,
    actions: ACTIONS.filter((action) => splitList(config.TERRANE_ROUTING_ACTIONS).includes(action)),
    limits: {
      modes,
      excludeLocations: config.TERRANE_ROUTING_MAX_EXCLUDE_LOCATIONS,
      excludePolygonMeters: config.TERRANE_ROUTING_MAX_EXCLUDE_METERS,
      alternates: config.TERRANE_ROUTING_MAX_ALTERNATES,
      radius: config.TERRANE_ROUTING_MAX_RADIUS_METERS,
      reachability: config.TERRANE_ROUTING_MAX_REACHABILITY,
      matrix: { pairs: config.TERRANE_ROUTING_MAX_MATRIX_PAIRS, meters },
      isochrone: {
        contours: config.TERRANE_ROUTING_MAX_CONTOURS,
        minutes: config.TERRANE_ROUTING_MAX_CONTOUR_MINUTES,
        kilometers: config.TERRANE_ROUTING_MAX_CONTOUR_KILOMETERS,
      },
      locate: config.TERRANE_ROUTING_MAX_LOCATE_LOCATIONS,
    },
  }
}

function locationsOf(mode: Mode): string {
  return `TERRANE_ROUTING_${mode.toUpperCase()}_MAX_LOCATIONS`
}

function metersOf(mode: Mode): string {
  return `TERRANE_ROUTING_${mode.toUpperCase()}_MAX_METERS`
}

function matrixMetersOf(mode: Mode): string {
  return `TERRANE_ROUTING_${mode.toUpperCase()}_MAX_MATRIX_METERS`
}

function limit(fallback: number, description: string, minimum = 0): TInteger {
  return Type.Integer({ default: fallback, minimum, description })
}
