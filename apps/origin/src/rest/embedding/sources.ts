import { quoteIdentifier, qualified } from '@terrane/database'
import type { Embed, Parameters } from '@terrane/database/rest-query'
import { findRelationship } from './find-relationship.ts'
import type { Relationship } from './relationships.ts'
import type { SchemaPicture } from './schema-picture.ts'

/** Context in which statements are written. */
export interface ReadContext {
  readonly schema: string
  /** Null where nothing is embedded and no rows are grouped. */
  readonly picture: SchemaPicture | null
  readonly parameters: Parameters
  /** Maximum rows of a list of embedded rows; 0 = no limit. */
  readonly maxRows: number
  /** Maximum bytes of all embedded rows. */
  readonly maxBytes: number
}

/** Rows that are read: those of the request, or embedded ones of a row around them. */
export interface Source {
  /** Name of the table or view, by which relationships are found. */
  readonly table: string
  /** A `from` item without its alias. */
  readonly from: string
  readonly alias: string
  readonly depth: number
  /** Aliases of the outer rows. */
  readonly taken: ReadonlySet<string>
  /** Further `from` items and conditions that connect it with the outer row. */
  readonly junction: string
  readonly joins: readonly string[]
}

/** The rows of the request. */
export function rootSource(table: string, from: string): Source {
  return { table, from, alias: aliasOf(table, 'rows', new Set()), depth: 0, taken: new Set(), junction: '', joins: [] }
}

/** Source of the rows of an embedded resource. */
export function embedded(
  embed: Embed,
  source: Source,
  context: ReadContext,
): { relationship: Relationship; child: Source } {
  if (!context.picture) throw new Error('resources are embedded by a picture of the schema')
  const relationship = findRelationship(context.picture, context.schema, source.table, embed)
  const { table, target, junction, functionSchema, pairs } = relationship
  const depth = source.depth + 1
  const taken = new Set([...source.taken, source.alias])
  const alias = aliasOf(`${target.name}_${depth}`, `rows_${depth}`, taken)
  const [own, around] = [quoteIdentifier(alias), quoteIdentifier(source.alias)]
  const through = quoteIdentifier(aliasOf(`${alias}_junction`, `junction_${depth}`, new Set([...taken, alias])))
  const joins = junction
    ? [
        ...junction.other.map(([column, other]) => equal(own, column, through, other)),
        ...junction.own.map(([column, other]) => equal(through, other, around, column)),
      ]
    : pairs.map(([column, other]) => equal(own, other, around, column))
  const from =
    functionSchema === null
      ? qualified(target.schema, target.name)
      : `${qualified(functionSchema, relationship.name)}((${around}.*)::${qualified(table.schema, table.name)})`
  return {
    relationship,
    child: {
      table: target.name,
      from,
      alias,
      depth,
      taken,
      junction: junction ? `, ${qualified(junction.table.schema, junction.table.name)} as ${through}` : '',
      joins,
    },
  }
}

function equal(a: string, x: string, b: string, y: string): string {
  return `${a}.${quoteIdentifier(x)} = ${b}.${quoteIdentifier(y)}`
}

/** PostgreSQL truncates longer names, which can make two names equal. */
const MAX_NAME_BYTES = 63

/** A name that no outer rows have; `short` replaces a name that is too long. */
export function aliasOf(wanted: string, short: string, taken: ReadonlySet<string>): string {
  const name = Buffer.byteLength(wanted) <= MAX_NAME_BYTES - 4 ? wanted : short
  let alias = name
  for (let n = 2; taken.has(alias); n++) alias = `${name}_${n}`
  return alias
}
