import { legendOf, type Filter, type VectorLayer } from '@terrane/map-style'
import { CLUSTER_COLOR, UNCLASSED, heatColors, isClustered } from '@terrane/map-style/colors'

/** Features of one geometry that fulfil an expression. */
export interface QgisFeatures {
  readonly geometry: 'Point' | 'Line' | 'Polygon'
  /** An expression of QGIS. */
  readonly expression: string
}

/** A part of a layer of vector tiles in QGIS, in one symbol. */
export interface QgisStyle extends QgisFeatures {
  readonly name: string
  readonly color: string
}

/** The features that a layer of a map draws, for each of its kinds of geometries. */
export function qgisFeatures(layer: VectorLayer): QgisFeatures[] {
  const geometries =
    layer.geometry === 'mixed' ? (['Polygon', 'Line', 'Point'] as const) : ([GEOMETRIES[layer.geometry]] as const)
  const filters = isClustered(layer) ? [] : layer.filters.map(conditionOf)
  return geometries.map((geometry) => ({
    geometry,
    expression: [`geometry_type(@geometry)='${geometry}'`, ...filters].join(' AND '),
  }))
}

/** The styles of a layer of a map: one for each colour of its legend, so that QGIS lists the classes. */
export function qgisStyles(layer: VectorLayer): QgisStyle[] {
  return qgisFeatures(layer).flatMap(({ geometry, expression }) =>
    classesOf(layer, geometry).map(({ name, color, condition }) => ({
      name,
      geometry,
      color,
      expression: [expression, ...condition].join(' AND '),
    })),
  )
}

const GEOMETRIES = { point: 'Point', line: 'Line', area: 'Polygon' } as const

interface Class {
  readonly name: string
  readonly color: string
  /** Expressions that its features fulfil. */
  readonly condition: readonly string[]
}

function classesOf(layer: VectorLayer, geometry: QgisFeatures['geometry']): Class[] {
  const { title, draw, color } = layer
  // QGIS has no heat map of vector tiles: the points are drawn.
  if (draw === 'heat' && geometry === 'Point') return [{ name: title, color: heatColors(color).at(-1)!, condition: [] }]
  if (!isClustered(layer)) return coloredClasses(layer)
  const isCluster = '"point_count" IS NOT NULL AND "point_count" > 1'
  return [
    ...coloredClasses(layer).map((one) => ({ ...one, condition: [...one.condition, `NOT (${isCluster})`] })),
    { name: `${title}, clusters`, color: CLUSTER_COLOR, condition: [isCluster] },
  ]
}

function coloredClasses({ title, color }: VectorLayer): Class[] {
  if (color.by === 'one') return [{ name: title, color: color.color, condition: [] }]
  const of = quoted(color.property)
  const entries = legendOf(color)
  const values = entries.flatMap(({ of: what }) => (typeof what === 'object' && 'value' in what ? [what.value] : []))
  const classes = entries.flatMap(({ color: shade, of: what }, i): Class[] => {
    if (typeof what === 'string') return []
    if ('value' in what)
      return [{ name: String(what.value), color: shade, condition: [`${of} IS ${literal(what.value)}`] }]
    const next = entries[i + 1]?.of
    const isLast = typeof next !== 'object'
    // As on the map, smaller numbers are in the first class, and larger ones in the last.
    const range = [...(i > 0 ? [`${of} >= ${what.from}`] : []), ...(isLast ? [] : [`${of} < ${what.to}`])]
    return [{ name: `${what.from} – ${what.to}`, color: shade, condition: [`${of} IS NOT NULL`, ...range] }]
  })
  const none = color.by === 'number' ? [`${of} IS NULL`] : values.map((value) => `${of} IS NOT ${literal(value)}`)
  const rest = color.by === 'number' && classes.length === 0 ? [] : none
  return [...classes, { name: 'other values', color: UNCLASSED, condition: rest }]
}

function conditionOf({ property, is, value }: Filter): string {
  const of = quoted(property)
  switch (is) {
    case 'equal':
      return `${of} IS ${literal(value)}`
    case 'not':
      return `${of} IS NOT ${literal(value)}`
    case 'less':
      return `${of} < ${Number(value)}`
    case 'more':
      return `${of} > ${Number(value)}`
    case 'contains':
      return `strpos(lower(to_string(${of})), ${literal(String(value).toLowerCase())}) > 0`
    case 'empty':
      return `(${of} IS NULL OR ${of} IS '')`
    case 'filled':
      return `(${of} IS NOT NULL AND ${of} IS NOT '')`
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A value in an expression; a backslash starts an escape there. */
function literal(value: string | number | boolean): string {
  return typeof value === 'string' ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'` : String(value)
}
