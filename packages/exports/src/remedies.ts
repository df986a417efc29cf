/** Facts about geometries before they are read. */
export interface SourceGeometry {
  readonly name: string
  /** EPSG code; null when the column does not declare one, so that each row has its own. */
  readonly srid: number | null
  /** Whether the column declares its system; otherwise rows may have none. */
  readonly isDeclared: boolean
  /** Whether rows have several reference systems; the file has one: `srid`. */
  readonly isMixed?: boolean
  /** Geometry types present, as ISO numbers; null if not scanned. */
  readonly types: readonly number[] | null
  /** Geometry kinds found by the scan, in the form of {@link kindSql}; absent if the column declares its type. */
  readonly kinds?: readonly string[]
  /** Geometry types that the file may hold, for formats that declare them before the rows. */
  readonly shapes: readonly number[]
}

/** Properties of geometries that a format may lack. */
export type Lack = 'measures' | 'curves' | 'surfaces' | 'nested collections' | 'empty geometries'

/** Conversions of geometries that a format cannot hold, and their warnings. */
export interface Remedy {
  readonly code: string
  readonly message: string
  /** SQL condition that is true if the remedy changes a geometry. @param geometry SQL of the geometry */
  readonly changes: (geometry: string) => string
  /** SQL of the converted geometry. @param geometry SQL of a geometry to which `changes` applies */
  readonly change: (geometry: string) => string
  /** Whether geometries of an ISO type may need it. */
  readonly concerns: (type: number) => boolean
  /** The ISO type that a type becomes. */
  readonly typeOf: (type: number) => number
}

const COLLECTION = 7
const TIN = 16
const TRIANGLE = 17
const ISO_Z = 1000
const ISO_M = 2000
/** Maximum angle of the arc that one segment replaces, in degrees; the same as for imports. */
const ARC_STEP = 4
/** ISO WKB code of a type with arcs → code of the type without arcs that replaces it. */
const STRAIGHT: Readonly<Record<number, number>> = { 8: 2, 9: 2, 10: 3, 11: 5, 12: 6, 13: 2, 14: 3 }
const FLAT: Readonly<Record<number, number>> = { 15: 6, [TIN]: 6, [TRIANGLE]: 3 }
const CURVES = "('CIRCULARSTRING', 'COMPOUNDCURVE', 'CURVEPOLYGON', 'MULTICURVE', 'MULTISURFACE')"
const SURFACES = "('POLYHEDRALSURFACE', 'TIN', 'TRIANGLE')"

const REMEDIES: Readonly<Record<Lack, Remedy>> = {
  curves: {
    code: 'CURVES_LINEARIZED',
    message: `Arcs became segments that turn by ${ARC_STEP} degrees at most.`,
    changes: (g) => `(${typeOf(g)} in ${CURVES} or (${typeOf(g)} = 'GEOMETRYCOLLECTION' and st_hasarc(${g})))`,
    // 2: the tolerance is the angle of a step, in radians.
    change: (g) => `st_curvetoline(${g}, radians(${ARC_STEP}), 2, 0)`,
    concerns: (type) => codeOf(type) in STRAIGHT || codeOf(type) === COLLECTION,
    typeOf: (type) => withCode(type, STRAIGHT[codeOf(type)]),
  },
  surfaces: {
    code: 'SURFACES_AS_POLYGONS',
    message: 'Triangles, triangulations and polyhedral surfaces became polygons.',
    changes: (g) => `${typeOf(g)} in ${SURFACES}`,
    change: (g) =>
      `case ${typeOf(g)} when 'TRIANGLE' then ${polygonOf(g)} else coalesce(st_multi(${pieces(g)}), st_setsrid('multipolygon empty'::geometry, st_srid(${g}))) end`,
    concerns: (type) => codeOf(type) in FLAT,
    typeOf: (type) => withCode(type, FLAT[codeOf(type)]),
  },
  'nested collections': {
    code: 'COLLECTIONS_FLATTENED',
    message: 'Collections within collections, and their surfaces, became collections of points, lines and polygons.',
    changes: (g) =>
      `(${typeOf(g)} = 'GEOMETRYCOLLECTION' and exists (select from generate_series(1, st_numgeometries(${g})) i
        where geometrytype(st_geometryn(${g}, i)) in ('GEOMETRYCOLLECTION', 'POLYHEDRALSURFACE', 'TIN', 'TRIANGLE')))`,
    change: (g) => `st_forcecollection(coalesce(${pieces(g)}, ${g}))`,
    concerns: (type) => codeOf(type) === COLLECTION,
    typeOf: (type) => type,
  },
  'empty geometries': {
    code: 'EMPTY_GEOMETRIES',
    message: 'The format has no empty geometries: they became null.',
    changes: (g) => `st_isempty(${g})`,
    change: () => 'null::geometry',
    concerns: () => true,
    typeOf: (type) => type,
  },
  measures: {
    code: 'MEASURES_LEFT_OUT',
    message: 'The format has no place for the measures of positions.',
    changes: (g) => `st_zmflag(${g}) in (1, 3)`,
    change: (g) => `case st_zmflag(${g}) when 1 then st_force2d(${g}) else st_force3dz(${g}) end`,
    concerns: (type) => type >= ISO_M,
    typeOf: (type) => (type >= ISO_M ? type - ISO_M : type),
  },
}

/** SQL of the facts about a geometry by which header and conversions are chosen: type, dimensions, system, emptiness. */
export function kindSql(geometry: string): string {
  return `concat_ws(' ', geometrytype(${geometry}), st_zmflag(${geometry}), st_srid(${geometry}), st_isempty(${geometry}))`
}

/** Geometries without a reference system cannot be transformed. */
export const NO_SYSTEM: Pick<Remedy, 'code' | 'message' | 'changes'> = {
  code: 'SYSTEM_UNKNOWN',
  message: 'Geometries without a reference system were taken for longitude and latitude, or the system of the others.',
  changes: (g) => `st_srid(${g}) = 0`,
}

/** Conversions of a source's geometries, in this order. */
export function remediesFor({ types }: Pick<SourceGeometry, 'types'>, lacks: readonly Lack[]): readonly Remedy[] {
  return lacks.map((lack) => REMEDIES[lack]).filter(({ concerns }) => types === null || types.some(concerns))
}

function codeOf(type: number): number {
  return type % ISO_Z
}

function withCode(type: number, code: number | undefined): number {
  return code === undefined ? type : type - codeOf(type) + code
}

/** The name of a geometry's type; measures do not count. */
function typeOf(geometry: string): string {
  return `rtrim(geometrytype(${geometry}), 'M')`
}

function polygonOf(geometry: string): string {
  return `st_makepolygon(st_exteriorring(${geometry}))`
}

/** The simple parts of a geometry, with triangles as polygons; null when it has none. */
function pieces(geometry: string): string {
  const part = `case ${typeOf('part.geom')} when 'TRIANGLE' then ${polygonOf('part.geom')} else part.geom end`
  return `(select st_collect(${part} order by part.path) from st_dump(${geometry}) part)`
}
