import type { Embed } from '@terrane/database/rest-query'
import { RestError } from '../errors.ts'
import type { Relationship } from './relationships.ts'
import type { SchemaPicture } from './schema-picture.ts'

/**
 * The relationship that an embedded resource follows: by the name of a table, view, function, foreign key or column,
 * and by a hint when several match (PostgREST manual, resource embedding).
 *
 * @throws PGRST200 when the role may follow none, PGRST201 when there are several
 */
export function findRelationship(
  picture: SchemaPicture,
  schema: string,
  table: string,
  { target, hint }: Pick<Embed, 'target' | 'hint'>,
): Relationship {
  const all = picture.from(schema, table).filter((r) => r.target.schema === schema)
  const functions = all.filter((r) => r.cardinality === 'computed' && r.name === target)
  // A function takes priority, because the owner has defined the relationship explicitly.
  const found =
    functions.length > 0
      ? [...functions.filter((r) => r.functionSchema === schema), ...functions].slice(0, 1)
      : all.filter((r) => r.cardinality !== 'computed' && (r.table === r.target ? leadsBack : leads)(r, target, hint))
  if (found.length > 1) throw ambiguous(table, target, found)
  if (!found[0]) throw unrelated({ schema, table, target, hint, all })
  return found[0]
}

function leads(relationship: Relationship, target: string, hint: string | null): boolean {
  const { cardinality, junction, name, pairs } = relationship
  const isTarget = target === relationship.target.name
  const isKey = (text: string) => cardinality !== 'many-to-many' && text === name
  const only = pairs.length === 1 ? pairs[0] : undefined
  if (hint === null) return isTarget || (!relationship.target.isView && (isKey(target) || target === only?.[0]))
  return isTarget && (isKey(hint) || hint === only?.[0] || hint === only?.[1] || hint === junction?.table.name)
}

/** For a self-reference, the table's name means the to-many direction, the foreign key's column the to-one. */
function leadsBack({ table, cardinality, pairs }: Relationship, target: string, hint: string | null): boolean {
  const [own, other] = (pairs.length === 1 ? pairs[0] : undefined) ?? []
  if (cardinality === 'many-to-one') return hint === null && target === own
  return cardinality === 'one-to-many' && target === table.name && (hint === null || hint === other)
}

function ambiguous(table: string, target: string, found: readonly Relationship[]): RestError {
  const hints = found.map((r) => `'${r.target.name}!${r.name}'`)
  return new RestError(
    300,
    'PGRST201',
    `Could not embed because more than one relationship was found for '${table}' and '${target}'`,
    {
      details: found.map(described),
      hint: `Try changing '${target}' to one of the following: ${hints.join(', ')}. Find the desired relationship in the 'details' key.`,
    },
  )
}

function list(names: readonly string[]): string {
  return `(${names.join(', ')})`
}

function described({ table, target, cardinality, name, pairs, junction }: Relationship): Record<string, string> {
  const [own, other] = [pairs.map((p) => p[0]), pairs.map((p) => p[1])]
  return {
    cardinality,
    embedding: `${table.name} with ${target.name}`,
    relationship: junction
      ? `${name} using ${junction.names[0]}${list(junction.own.map((p) => p[1]))} and ${junction.names[1]}${list(junction.other.map((p) => p[1]))}`
      : `${name} using ${table.name}${list(own)} and ${target.name}${list(other)}`,
  }
}

/** A name without differences that are easily overlooked. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]|s$/g, '')
}

function unrelated(sought: {
  schema: string
  table: string
  target: string
  hint: string | null
  all: readonly Relationship[]
}): RestError {
  const { schema, table, target, hint, all } = sought
  const alike = all.map((r) => r.target.name).find((name) => name !== target && plain(name) === plain(target))
  return new RestError(
    400,
    'PGRST200',
    `Could not find a relationship between '${table}' and '${target}' in the schema cache`,
    {
      details: `Searched for a foreign key relationship between '${table}' and '${target}'${hint === null ? '' : ` using the hint '${hint}'`} in the schema '${schema}', but no matches were found.`,
      hint: alike === undefined ? null : `Perhaps you meant '${alike}' instead of '${target}'.`,
    },
  )
}
