import type { Work } from '../actions.ts'
import type { Ground } from '../ground.ts'
import { degreesOf } from '../respond/numbers.ts'
import type { Candidate } from '../snap/candidate.ts'
import { Areas, type Polygon } from './areas.ts'
import { levelOf } from './levels.ts'
import type { Contour, IsochroneRequest } from './request.ts'
import { samplesOf } from './samples.ts'
import { Surface } from './surface.ts'
import { reach } from './values.ts'

/** Default tolerance of lines in metres; less than the distance of samples. */
const GENERALIZE = 8

/**
 * The answer to a request for isochrones, as GeoJSON: a sweep over the streets, a surface over sampled places, and its
 * contour lines of time or distance.
 *
 * @throws RouteProblem 171 when no street is near
 */
export function* isochroneOf(ground: Ground, request: IsochroneRequest): Work {
  const prepared = ground.costings.get(request.mode, request.options)
  const stop = ground.stop(prepared, request.location, request.reverse ? 'end' : 'begin')
  const { candidates } = stop.snapped
  const features = yield* contourFeatures(ground, request, candidates)
  if (request.showLocations) features.push(...locationFeatures(request, candidates))
  yield JSON.stringify({
    features,
    type: 'FeatureCollection',
    ...(request.id !== null && { id: request.id }),
    ...(request.warnings.length > 0 && { warnings: request.warnings }),
  })
}

/** Each contour as features, outermost first. */
function* contourFeatures(
  ground: Ground,
  request: IsochroneRequest,
  candidates: readonly Candidate[],
): Generator<string, Feature[]> {
  const { contours } = request
  if (contours.length === 0) return []
  const prepared = ground.costings.get(request.mode, request.options)
  const reaching = reach(ground, request, prepared, candidates)
  let step = reaching.next()
  for (; step.done !== true; step = reaching.next()) yield ''
  const sampling = samplesOf(ground.network.graph, step.value, contours, candidates)
  let taken = sampling.next()
  for (; taken.done !== true; taken = sampling.next()) yield ''
  step.value.giveBack()
  const samples = taken.value
  if (samples.count === 0) return []
  const surface = new Surface(samples)
  yield ''
  const rings = contours.map((contour) =>
    surface.rings(contour.metric === 'time' ? samples.seconds : samples.meters, levelOf(contour).value),
  )
  const drawing = { generalize: request.generalize ?? GENERALIZE, denoise: request.denoise }
  const drawn: Polygon[][] = []
  for (const metric of ['time', 'distance'] as const) {
    const areas = new Areas(surface, drawing, rings.flat())
    // From the inside out, because each contour lies within the next.
    for (let i = contours.length - 1; i >= 0; i--) {
      if (contours[i]!.metric !== metric) continue
      drawn[i] = areas.add(rings[i]!)
      yield ''
    }
  }
  return contours.flatMap((contour, i) =>
    featuresOf(contour, drawn[i]!, { ...request, hue: (150 * i) / contours.length }),
  )
}

type Feature = Readonly<Record<string, unknown>>

function featuresOf(
  { metric, value, color }: Contour,
  drawn: readonly Polygon[],
  { polygons, hue }: { polygons: boolean; hue: number },
): Feature[] {
  const shade = color === null ? colorOf(hue) : `#${color}`
  const properties = {
    'fill-opacity': 0.33,
    fillColor: shade,
    opacity: 0.33,
    fill: shade,
    fillOpacity: 0.33,
    color: shade,
    contour: value,
    metric,
  }
  const feature = (type: string, coordinates: unknown): Feature => ({
    properties,
    geometry: { coordinates, type },
    type: 'Feature',
  })
  if (!polygons) return drawn.flat().map((ring) => feature('LineString', ring))
  if (drawn.length === 0) return []
  return drawn.length === 1 ? [feature('Polygon', drawn[0])] : [feature('MultiPolygon', drawn)]
}

/** A colour by its hue in degrees, with the saturation and lightness of Valhalla's contours. */
function colorOf(hue: number): string {
  const strength = 0.5
  const base = 0.25
  const second = strength * (1 - Math.abs(((hue / 60) % 2) - 1))
  const [red, green, blue] =
    hue < 60 ? [strength, second, 0] : hue < 120 ? [second, strength, 0] : [0, strength, second]
  return `#${[red, green, blue]
    .map((part) =>
      Math.round((part + base) * 255)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`
}

/** The snapped positions of the location, and its requested position. */
function locationFeatures({ location }: IsochroneRequest, candidates: readonly Candidate[]): Feature[] {
  const places = new Map(candidates.map(({ lon, lat }) => [`${lon} ${lat}`, [degreesOf(lon), degreesOf(lat)]]))
  return [
    {
      geometry: { coordinates: [...places.values()], type: 'MultiPoint' },
      properties: { location_index: 0, type: 'snapped' },
      type: 'Feature',
    },
    {
      geometry: { coordinates: [degreesOf(location.lon), degreesOf(location.lat)], type: 'Point' },
      properties: { location_index: 0, type: 'input' },
      type: 'Feature',
    },
  ]
}
