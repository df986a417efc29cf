import type { Session } from '@terrane/database'
import { Parameters } from '@terrane/database/rest-query'
import { encodeTileOfRows, type AttributeValue } from '@terrane/tiling/vector'
import type { Layer } from './layer.ts'
import { POINT_COUNT, rowsSql, type TileQuery } from './tile-sql.ts'

/** Encodes a tile in this process under the session's role, for databases without ST_AsMVT. Null for an empty tile. */
export async function encodeRows(session: Session, layer: Layer, query: TileQuery): Promise<Uint8Array | null> {
  const parameters = new Parameters()
  const { rows } = await session.query<Record<string, unknown>>(rowsSql(layer, query, parameters), parameters.values)
  const properties =
    query.cluster === null
      ? layer.properties
      : [{ name: POINT_COUNT, type: 'int8' as const }, ...layer.properties.filter(({ name }) => name !== POINT_COUNT)]
  const attributes = properties.map(({ name }) => name)
  const features = rows
    .filter((row) => row['mvt geom'] !== null)
    .map((row) => ({
      geometry: row['mvt geom'] as Uint8Array,
      id: row['mvt id'] === null ? null : Number(row['mvt id']),
      values: properties.map(({ name, type }) => valueOf(row[name], type)),
    }))
  return encodeTileOfRows(features, { ...query, layer: layer.table, attributes })
}

function valueOf(value: unknown, type: string): AttributeValue {
  if (value === null || value === undefined) return null
  return type === 'int8' || type === 'float8' ? Number(value) : (value as AttributeValue)
}
