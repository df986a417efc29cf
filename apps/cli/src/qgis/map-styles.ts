import { legendOf, type Filter, type VectorLayer } from '@terrane/map-style'
import { CLUSTER_COLOR, UNCLASSED, shownColors } from '@terrane/map-style/colors'

/** A part of a layer of vector tiles in QGIS: features of one geometry that fulfil an expression, in one symbol. */
export interface QgisStyle {
  readonly name: string
  readonly geometry: 'Point' | 'Line' | 'Polygon'
  /** An expression of QGIS. */
  readonly expression: string
  readonly color: string
}

/** The styles of a layer of a map: one for each colour of its legend, so that QGIS lists the classes. */
export function qgisStyles(layer: VectorLayer): QgisStyle[] {
  const geometries =
    layer.geometry === 'mixed' ? (['Polygon', 'Line', 'Point'] as const) : ([GEOMETRIES[layer.geometry]] as const)
  const filters = layer.draw === 'cluster' ? [] : layer.filters.map(conditionOf)
  return geometries.flatMap((geometry) =>
    classesOf(layer).map(({ name, color, condition }) => ({
      name,
      geometry,
      color,
      expression: [`geometry_type(@geometry)='${geometry}'`, ...filters, ...condition].join(' AND '),
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

function classesOf(layer: VectorLayer): Class[] {
  const { title, draw } = layer
  // QGIS has no heat map of vector tiles: the points are drawn.
  if (draw === 'heat') return [{ name: title, color: shownColors(layer).at(-1)!, condition: [] }]
  if (draw !== 'cluster') return coloredClasses(layer)
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
