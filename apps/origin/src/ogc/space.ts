import type { Collection } from './collection.ts'
import type { Crs } from './crs.ts'
import { badFilter } from './errors.ts'
import { Numeral } from './exact-json.ts'

/** Size in degrees or meters up to which a shape is looked up by the index of another system. */
const NEAR = { degrees: 5, meters: 500_000 } as const

/** Envelopes of a box in the order of the system's axes: two where it crosses the antimeridian. */
export function envelopesOf(box: readonly number[], crs: Crs, refuse: (detail: string) => Error): readonly string[] {
  const [a = 0, b = 0, c = 0, d = 0] = box.length === 6 ? [box[0], box[1], box[3], box[4]] : box
  const [west, south, east, north] = crs.isSwapped ? [b, a, d, c] : [a, b, c, d]
  if (south > north) throw refuse('its south lies north of its north')
  if (west > east && !crs.isGeographic) throw refuse('its west lies east of its east')
  const spans =
    west <= east
      ? [[west, east]]
      : [
          [west, 180],
          [-180, east],
        ]
  return spans.map(([w, e]) => `st_makeenvelope(${w}, ${south}, ${e}, ${north}, ${crs.srid})`)
}

/** SQL of a relation between a row's geometry and a shape in `crs`, with straight edges in that system. */
export function relationSql(
  relation: string,
  shape: string,
  crs: Crs,
  { geometry, srid }: Pick<Collection, 'geometry' | 'srid'>,
): string {
  if (srid === crs.srid) return `${relation}(${geometry}, ${shape})`
  const exact = `${relation}(st_transform(${geometry}, ${crs.srid}), ${shape})`
  if (relation === 'st_disjoint') return exact
  const side = `greatest(st_xmax(${shape}) - st_xmin(${shape}), st_ymax(${shape}) - st_ymin(${shape}))`
  const pole = crs.isGeographic ? ` and greatest(-st_ymin(${shape}), st_ymax(${shape})) < 85` : ''
  // Straight edges are curves in the other system, so the box is enlarged and its edges are cut into short ones.
  const wide = `st_segmentize(st_expand(${shape}, ${side} * 0.05 + 1e-9), ${side} / 8 + 1e-9)`
  return `(${geometry} && (case when ${side} <= ${crs.isGeographic ? NEAR.degrees : NEAR.meters}${pole}
    then st_transform(${wide}, ${srid}) else st_makeenvelope(-1e38, -1e38, 1e38, 1e38, ${srid}) end) and ${exact})`
}

/** Positions of well-known text, each as its numbers. */
export function positionsOfWkt(wkt: string): readonly (readonly number[])[] {
  return wkt.split(/[(),]/).flatMap((part) => (/^\s*[-+.\d]/.test(part) ? [part.trim().split(/\s+/).map(Number)] : []))
}

/** Positions of a GeoJSON geometry. */
export function positionsOf(shape: unknown): readonly (readonly number[])[] {
  if (typeof shape !== 'object' || shape === null) return []
  if (!Array.isArray(shape)) return Object.values(shape).flatMap(positionsOf)
  const numbers = shape.map((one) => (one instanceof Numeral ? Number(one.text) : (one as unknown)))
  const areNumbers = numbers.length > 1 && numbers.every((one): one is number => typeof one === 'number')
  return areNumbers ? [numbers] : numbers.flatMap(positionsOf)
}

/** @throws BAD_FILTER for a position beyond a pole */
export function requireLatitudes(positions: readonly (readonly number[])[], { srid, isSwapped }: Crs): void {
  if (srid !== 4326) return
  const beyond = positions.find((position) => Math.abs(position[isSwapped ? 0 : 1] ?? 0) > 90)
  if (beyond) throw badFilter(`${beyond.join(' ')} is beyond a pole: latitudes are -90 to 90`)
}
