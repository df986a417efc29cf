/** A condition on the tags of an element. */
export type Filter = KeyFilter | HasFilter | HasOtherFilter | PrefixFilter | AllFilter | AnyFilter | NotFilter

/** The key has a value of `is`, or any but `no` and those of `isNot`, which begins with `startsWith` if given. */
export interface KeyFilter {
  readonly key: string
  readonly is?: string | readonly string[]
  readonly isNot?: string | readonly string[]
  readonly startsWith?: string
}

/** The key exists with any value, including `no`. */
export interface HasFilter {
  readonly has: string
}

/** There is a key other than these. */
export interface HasOtherFilter {
  readonly hasOther: readonly string[]
}

/** A key begins with `prefix`, e.g. `addr:`. */
export interface PrefixFilter {
  readonly prefix: string
}

export interface AllFilter {
  readonly all: readonly Filter[]
}

export interface AnyFilter {
  readonly any: readonly Filter[]
}

export interface NotFilter {
  readonly not: Filter
}

/** Type of a column, which decides how the text of a tag is read; see {@link readText}. */
export const COLUMN_TYPES = ['text', 'integer', 'number', 'metres', 'kmh', 'flag', 'bool', 'oneway', 'json'] as const
export type ColumnType = (typeof COLUMN_TYPES)[number]

/** Values of a column that are not those of a tag. */
export const COLUMN_VALUES = [
  'tags',
  'matchedKey',
  'matchedValue',
  'fromArea',
  'length',
  'area',
  'members',
  'way',
  'role',
  'direction',
] as const
/**
 * `tags`: all tags, as JSON. `matchedKey`, `matchedValue`: the first key that fits, of a branch of the filter that holds, and its value. `fromArea`:
 * whether a point was made of an area. `length`, `area`: metres and square metres on the ground. `members`: the ways of
 * the relation with their roles, as JSON. In a table of members: the id of the `way`, its `role`, and the `direction`
 * by its role: 1 forward, -1 backward, 0 both.
 */
export type ColumnValueName = (typeof COLUMN_VALUES)[number]

/** A column; a text stands for the column with the text of the key of that name. */
export type StyleColumn = string | ColumnDefinition

export interface ColumnDefinition {
  readonly name: string
  /** Key of the value; the column's name by default. */
  readonly key?: string
  /** Keys of the value; the first existing one counts. */
  readonly keys?: readonly string[]
  /** All tags whose keys begin so, as JSON: `name:` gives `{"de": …, "en": …}`. */
  readonly prefix?: string
  readonly value?: ColumnValueName
  /** `text` by default. */
  readonly type?: ColumnType
  /** Replacements of values; `*` is any other value. Null removes the value. */
  readonly map?: Readonly<Record<string, string | null>>
  /** Separator of a list: JSON columns hold all entries, other types the first one. */
  readonly split?: string
  /** Value that replaces null. */
  readonly default?: string | number | boolean
}

/** Elements that give rows. */
export const ROW_SOURCES = ['node', 'line', 'area', 'route', 'waterway', 'relation', 'member'] as const
/**
 * `node`: nodes. `line`: ways. `area`: closed ways, and relations of the types multipolygon and boundary. `route`,
 * `waterway`: the lines of relations of that type; `relation`: those of any type. `member`: each way of a relation.
 */
export type RowSource = (typeof ROW_SOURCES)[number]

/** Geometry of a table, and the elements that have it; areas in a table of points are reduced to a point within them. */
export const GEOMETRY_SOURCES = {
  point: ['node', 'area'],
  linestring: ['line', 'member'],
  multilinestring: ['line', 'route', 'waterway', 'relation'],
  multipolygon: ['area'],
} as const satisfies Readonly<Record<string, readonly RowSource[]>>
export type StyleGeometry = keyof typeof GEOMETRY_SOURCES

/** A table with the same columns, of fewer and simpler rows: for low zooms. */
export interface GeneralizedTable {
  readonly name: string
  /** Most that a line moves by, in metres on the ground. */
  readonly toleranceMetres?: number
  /** Shorter lines are left out. */
  readonly minLengthMetres?: number
  /** Smaller areas are left out. */
  readonly minAreaMetres2?: number
  /** Further condition on the rows of the table. */
  readonly where?: Filter
}

/** A table of a style. Every table also has the columns `id`, `osm_type`, `osm_id` and `geom`. */
export interface StyleTable {
  /** The table is called `{prefix}_{name}`. */
  readonly name: string
  readonly geometry: StyleGeometry
  readonly from: readonly RowSource[]
  /** Elements that become rows; when absent, all with a meaningful tag. */
  readonly where?: Filter
  /**
   * Closed ways that are areas. `byKey`, the default: ways with `area=yes`, or with a key that matches both the
   * condition and the {@link AREA_RULES}. A condition, or a branch of it, without a key of these rules works like
   * `byAnyKey`. `byAnyKey`: ways with `area=yes`, or with any key that matches these rules. `all`: ways without
   * `area=no`.
   */
  readonly areas?: 'byKey' | 'byAnyKey' | 'all' | Filter
  /** Closed ways that are lines: ways without `area=yes` (the default), `all`, or all but areas. */
  readonly lines?: 'notAreaYes' | 'notAreas' | 'all'
  readonly columns: readonly StyleColumn[]
  readonly generalized?: readonly GeneralizedTable[]
}

/** The tables of an import, as data. */
export interface OsmStyle {
  /** For editors. */
  readonly $schema?: string
  readonly tables: readonly StyleTable[]
}
