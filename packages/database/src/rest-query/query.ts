/** A column, or a path into a JSON one: `tags->address->>city`. */
export interface FieldPath {
  readonly column: string
  readonly path: readonly { readonly key: string; readonly text: boolean }[]
}

/** Functions over the rows of a group that `select` may name: `count()`, `amount.sum()`. */
export const AGGREGATES = ['count', 'sum', 'avg', 'max', 'min'] as const
export type Aggregate = (typeof AGGREGATES)[number]

export interface SelectItem {
  readonly field: FieldPath
  readonly alias: string | null
  readonly cast: string | null
  /** Aggregate of a group's values; null for the value of the row. `count()` has the column `*`. */
  readonly aggregate: Aggregate | null
  /** Type of the aggregate. */
  readonly aggregateCast: string | null
}

export interface OrderItem {
  readonly field: FieldPath
  /** Embedded resource that has the column: `districts(name)`; null for the resource itself. */
  readonly relation: string | null
  readonly descending: boolean
  readonly nulls: 'first' | 'last' | null
}

export interface Filter {
  readonly kind: 'filter'
  readonly negated: boolean
  readonly field: FieldPath
  readonly operator: string
  readonly quantifier: 'any' | 'all' | null
  /** Text search configuration of an fts operator. */
  readonly config: string | null
  readonly value: string | readonly string[]
}

export interface Logic {
  readonly kind: 'and' | 'or'
  readonly negated: boolean
  readonly terms: readonly Condition[]
}

export type Condition = Filter | Logic

/** Query of one table: the one in the path, or one that `select` embeds. */
export interface Resource {
  /** Null for every column. */
  readonly select: readonly SelectItem[] | null
  readonly embeds: readonly Embed[]
  readonly conditions: readonly Condition[]
  readonly order: readonly OrderItem[]
  readonly limit: number | null
  readonly offset: number
}

/** `[alias:]target[!hint][!inner|!left](…)` of `select`, or `...target(…)`. */
export interface Embed extends Resource {
  /** Table, view, function, foreign key or column that leads to the rows. */
  readonly target: string
  readonly alias: string | null
  /** Foreign key, column or junction table that selects one of several relationships. */
  readonly hint: string | null
  /** Rows without embedded rows are left out. */
  readonly isInner: boolean
  /** Spread: its columns are columns of the embedding resource. */
  readonly isSpread: boolean
}

export interface RestQuery extends Resource {
  readonly columns: readonly string[] | null
  readonly onConflict: readonly string[] | null
}
