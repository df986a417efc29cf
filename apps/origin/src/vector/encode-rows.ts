import type { Session } from '@terrane/database'
import { Parameters as SqlParameters } from '@terrane/database/rest-query'
import { encodeTileOfRows, type AttributeValue } from '@terrane/tiling/vector'
import type { Layer } from './layer.ts'
import { POINT_COUNT, labelLayerOf, labelRowsSql, rowsSql, type TileQuery } from './tile-sql.ts'

/** Encodes a tile in this process under the session's role, for databases without ST_AsMVT. Null for an empty tile. */
export async function encodeRows(session: Session, layer: Layer, query: TileQuery): Promise<Uint8Array | null> {
  const parameters = new SqlParameters()
  const { rows } = await session.query<Row>(rowsSql(layer, query, parameters), parameters.values)
  const properties =
    query.cluster === null
      ? layer.properties
      : [{ name: POINT_COUNT, type: 'int8' as const }, ...layer.properties.filter(({ name }) => name !== POINT_COUNT)]
  const features = encode(rows, properties, { ...query, layer: layer.table })
  if (!query.hasLabelPoints) return features
  const labelParameters = new SqlParameters()
  const { rows: points } = await session.query<Row>(labelRowsSql(layer, query, labelParameters), labelParameters.values)
  const labels = encode(points, layer.properties, { ...query, layer: labelLayerOf(layer) })
  // Layers of a tile are concatenated (Mapbox Vector Tile 2.1, 4.1).
  return features && labels ? Buffer.concat([features, labels]) : (features ?? labels)
}

type Row = Readonly<Record<string, unknown>>

function encode(
  rows: readonly Row[],
  properties: Layer['properties'],
  place: Omit<Parameters<typeof encodeTileOfRows>[1], 'attributes'>,
): Uint8Array | null {
  const attributes = properties.map(({ name }) => name)
  const features = rows
    .filter((row) => row['mvt geom'] !== null)
    .map((row) => ({
      geometry: row['mvt geom'] as Uint8Array,
      id: row['mvt id'] === null ? null : Number(row['mvt id']),
      values: properties.map(({ name, type }) => valueOf(row[name], type)),
    }))
  return encodeTileOfRows(features, { ...place, attributes })
}

function valueOf(value: unknown, type: string): AttributeValue {
  if (value === null || value === undefined) return null
  return type === 'int8' || type === 'float8' ? Number(value) : (value as AttributeValue)
}
