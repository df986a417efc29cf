import type { Column } from './catalog.ts'

/** A part of a JSON document. */
export type Json = Readonly<Record<string, unknown>>

/** A column, with PostgREST's notes that generators read keys from. */
export function columnSchema(column: Column): Json {
  const notes = [
    column.comment,
    column.primaryKey ? 'Note:\nThis is a Primary Key.<pk/>' : null,
    column.refersTo
      ? `Note:\nThis is a Foreign Key to \`${column.refersTo.table}.${column.refersTo.column}\`.<fk table='${column.refersTo.table}' column='${column.refersTo.column}'/>`
      : null,
  ].filter((note) => note)
  return {
    ...typeSchema(column.type),
    ...(column.labels && { type: 'string', enum: column.labels }),
    ...defaultOf(column),
    ...(notes.length > 0 && { description: notes.join('\n\n') }),
  }
}

const INTEGER = /^(?:smallint|integer|bigint)$/
const NUMBER = /^(?:real|double precision|numeric)(?:\(|$)/
const GEOMETRY = /^(?:[^.]+\.)?(?:geometry|geography)(?:\(|$)/

/** A geometry in a row (RFC 7946). A collection has `geometries` instead of coordinates. */
const GEOJSON_GEOMETRY: Json = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string' },
    coordinates: { type: 'array', items: {} },
    geometries: { type: 'array', items: {} },
  },
}

/** JSON Schema of the values of an SQL type in a row; `format` contains the SQL name. */
export function typeSchema(type: string): Json {
  if (type.endsWith('[]')) return { type: 'array', items: typeSchema(type.slice(0, -2)), format: type }
  const length = /^character(?: varying)?\((\d+)\)$/.exec(type)
  if (length) return { type: 'string', maxLength: Number(length[1]), format: type }
  if (type === 'json' || type === 'jsonb') return { format: type }
  if (GEOMETRY.test(type)) return { ...GEOJSON_GEOMETRY, format: type }
  return { type: jsonType(type), format: type }
}

function jsonType(type: string): string {
  if (INTEGER.test(type)) return 'integer'
  if (NUMBER.test(type)) return 'number'
  if (type === 'boolean') return 'boolean'
  return GEOMETRY.test(type) ? 'object' : 'string'
}

/** Arguments in a query are text; only simple types keep their schema. */
export function querySchema(type: string): Json {
  const plain = jsonType(type)
  return { type: plain === 'object' || type.endsWith('[]') ? 'string' : plain, format: type }
}

/** A default that is a constant; expressions are left out. */
function defaultOf({ default: text, type }: Column): Json {
  if (text === null) return {}
  const quoted = /^'((?:[^']|'')*)'(?:::[^']*)?$/.exec(text)
  if (quoted && typeSchema(type).type === 'string') return { default: quoted[1]?.replaceAll("''", "'") }
  if (/^-?\d+(?:\.\d+)?$/.test(text) && ['integer', 'number'].includes(jsonType(type))) return { default: Number(text) }
  if (text === 'true' || text === 'false') return { default: text === 'true' }
  return {}
}
