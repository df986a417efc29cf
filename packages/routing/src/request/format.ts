import { type CostOptions, costOptions, MODES, type Mode } from '../cost/options.ts'
import type { Geometry } from '../respond/geometry.ts'
import { type Annotation, ANNOTATIONS } from '../respond/annotation.ts'
import { RouteProblem, type Warning, warning } from './problems.ts'
import { flagOf, isObject, type Json, textOf } from './read.ts'

/** Formats of an answer. */
export type Format = 'json' | 'osrm' | 'gpx'

/** The requested format; other values give JSON, with a warning for `pbf`. */
export function readFormat(request: Json, warnings: Warning[]): Format {
  const format = textOf(request.format)
  if (format === 'osrm' || format === 'gpx') return format
  if (format === 'pbf') warnings.push(warning(211))
  return 'json'
}

const GEOMETRIES: Readonly<Record<string, Geometry>> = {
  polyline: 'polyline5',
  polyline5: 'polyline5',
  polyline6: 'polyline6',
  geojson: 'geojson',
  no_shape: 'no_shape',
}

/** The format of lines. */
export function readShapeFormat(value: unknown): Geometry {
  if (typeof value !== 'string') return 'polyline6'
  const format = Object.hasOwn(GEOMETRIES, value) && value !== 'polyline' ? GEOMETRIES[value] : undefined
  if (format === undefined) throw new RouteProblem(164)
  return format
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

/** OSRM's members `steps`, `geometries` and `overview`. Defaults: full steps and overview, six decimals. */
export function readOsrm(request: Json, shapeFormat: Geometry): OsrmOptions {
  const geometries = textOf(request.geometries)
  const overview = textOf(request.overview)
  return {
    steps: flagOf(request.steps) ?? true,
    geometries: (geometries === null ? undefined : GEOMETRIES[geometries]) ?? shapeFormat,
    annotations: readAnnotations(request.annotations, request.filters),
    banners: flagOf(request.banner_instructions) ?? false,
    voices: flagOf(request.voice_instructions) ?? false,
    overview:
      overview === 'simplified' ? 'simplified' : overview === 'false' || request.overview === false ? false : 'full',
  }
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
export function readRecostings(value: unknown): RequestedRecosting[] {
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
