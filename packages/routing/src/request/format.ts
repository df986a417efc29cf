import { type CostOptions, costOptions, MODES, type Mode } from '../cost/options.ts'
import type { Units } from '../narrate/lengths.ts'
import { type Annotation, ANNOTATIONS } from '../respond/annotation.ts'
import { type Geometry, geometryOf } from '../respond/geometry.ts'
import { RouteProblem, type Warning, warning } from './problems.ts'
import { countOf, flagOf, isObject, type Json, textOf } from './read.ts'
import { MEMBER_UNHEEDED } from './unheeded.ts'

// Members of a route request that change its answer and not the route.

/** The form of the answer to a route request. */
export interface AnswerForm {
  readonly units: Units
  /** The requested language; the answer may fall back to another one. */
  readonly language: string | null
  readonly directions: 'none' | 'maneuvers' | 'instructions'
  /** Whether leaving a roundabout is a separate maneuver. */
  readonly roundaboutExits: boolean
  /** Whether legs name their countries and the borders between them. */
  readonly adminCrossings: boolean
  readonly id: string | null
  readonly alternates: number
  readonly osrm: OsrmOptions
  readonly recostings: readonly RequestedRecosting[]
}

/** Requested members of an answer in the form of OSRM. */
export interface OsrmOptions {
  readonly steps: boolean
  readonly geometries: Geometry
  /** Requested values of each segment between two points of a leg. */
  readonly annotations: readonly Annotation[]
  /** Whether banners and voice instructions are requested. */
  readonly banners: boolean
  readonly voices: boolean
  readonly overview: 'full' | 'simplified' | false
}

/**
 * Reads the form of an answer. Defaults of OSRM's members: full steps and overview, six decimals.
 *
 * @param mostAlternates null for a request that has no alternates
 * @throws RouteProblem 127, 128
 */
export function readForm(
  request: Json,
  {
    shapeFormat,
    mostAlternates,
    warnings,
  }: { shapeFormat: Geometry; mostAlternates: number | null; warnings: Warning[] },
): AnswerForm {
  const recostings = readRecostings(request.recostings)
  const annotations = readAnnotations(request.annotations, request.filters)
  const directions = DIRECTIONS.find((name) => name === request.directions_type)
  const { overview } = request
  const paths = countOf(request.best_paths)
  if (paths !== null) warnings.push(warning(103))
  const asked = paths === null ? (countOf(request.alternates) ?? 0) : Math.max(0, paths - 1)
  if (asked > (mostAlternates ?? 0)) {
    const why =
      mostAlternates === null ? 'only routes between two locations have them' : `there are at most ${mostAlternates}`
    warnings.push({ code: MEMBER_UNHEEDED, text: `"alternates" asks for ${asked}: ${why}` })
  }
  return {
    units: readUnits(request),
    language: textOf(request.language),
    directions: directions ?? (flagOf(request.narrative) === false ? 'none' : 'instructions'),
    roundaboutExits: flagOf(request.roundabout_exits) ?? true,
    adminCrossings: flagOf(request.admin_crossings) === true,
    id: textOf(request.id),
    alternates: Math.min(asked, mostAlternates ?? 0),
    recostings,
    osrm: {
      steps: flagOf(request.steps) ?? true,
      geometries: geometryOf(request.geometries) ?? shapeFormat,
      annotations,
      banners: flagOf(request.banner_instructions) ?? false,
      voices: flagOf(request.voice_instructions) ?? false,
      overview: overview === 'simplified' ? overview : overview === 'false' || overview === false ? false : 'full',
    },
  }
}

const DIRECTIONS = ['none', 'maneuvers', 'instructions'] as const

export function readUnits(request: Json): Units {
  return request.units === 'miles' || request.units === 'mi' ? 'miles' : 'kilometers'
}

/** A further costing of the request. */
export interface RequestedRecosting {
  readonly name: string
  readonly mode: Mode
  readonly options: CostOptions
}

/** Maximum number of further costings of a request. */
const MOST_RECOSTINGS = 16

/**
 * The further costings of a request.
 *
 * @throws RouteProblem 127, 128
 */
function readRecostings(value: unknown): RequestedRecosting[] {
  if (!Array.isArray(value)) return []
  if (value.length > MOST_RECOSTINGS) throw new RouteProblem(128, `at most ${MOST_RECOSTINGS}`)
  const names = new Set<string>()
  return value.map((item: unknown) => {
    const mode = isObject(item) ? textOf(item.costing) : null
    if (!isObject(item) || mode === null || !(MODES as readonly string[]).includes(mode)) throw new RouteProblem(127)
    const name = textOf(item.name) || mode
    if (names.has(name)) throw new RouteProblem(128)
    names.add(name)
    return { name, mode: mode as Mode, options: costOptions(mode as Mode, item) }
  })
}

/** Annotations by their names in Valhalla's attribute filters. */
const FILTERED: Readonly<Record<string, Annotation>> = {
  'shape_attributes.time': 'duration',
  'shape_attributes.length': 'distance',
  'shape_attributes.speed': 'speed',
  'shape_attributes.speed_limit': 'maxspeed',
}

/** The requested annotations, named as in OSRM (`true` for all of OSRM's) or by a filter of Valhalla. */
function readAnnotations(value: unknown, filters: unknown): readonly Annotation[] {
  const { action, attributes } = isObject(filters) ? filters : ({} as Json)
  const included: readonly unknown[] = action === 'include' && Array.isArray(attributes) ? attributes : []
  const named = new Set<unknown>(included.map((name) => (typeof name === 'string' ? FILTERED[name] : undefined)))
  for (const name of value === true || value === 'true' ? ANNOTATIONS : (textOf(value)?.split(',') ?? []))
    named.add(name)
  return [...ANNOTATIONS, 'maxspeed' as const].filter((name) => named.has(name))
}
