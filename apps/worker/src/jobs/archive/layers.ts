import type { ArchiveToPmtiles } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import { quoteIdentifier, type Queryable } from '@terrane/database'
import { literals, parseQuery, whereClause } from '@terrane/database/rest-query'
import { checkLayers, type TilerLayer, type Zooms } from '@terrane/tiling/vector'
import { badFilter, propertyNotAttribute } from './errors.ts'
import type { TableSource } from '@terrane/database/scan'
import { findSpatialTable, type SpatialTable } from './spatial-table.ts'

/** Alias of the table of a layer. */
const SOURCE = quoteIdentifier('source')

type ArchiveLayer = NonNullable<ArchiveToPmtiles['layers']>[number]

/** A layer of an archive: how its table is read and how it is tiled. */
export interface SourceLayer {
  readonly table: SpatialTable
  readonly schema: string
  readonly tableName: string
  readonly tiler: TilerLayer
  /** The table and its filter. */
  readonly from: TableSource
  /** JSON pointer to the layer in the request. */
  readonly path: string
}

/** All layers of a request: the one of its own table, then the entries of `layers`. */
export function layersOf(input: ArchiveToPmtiles): { readonly layer: ArchiveLayer; readonly path: string }[] {
  const { layers = [], zooms: _zooms, ...own } = input
  return [{ layer: own, path: '' }, ...layers.map((layer, i) => ({ layer, path: `/layers/${i}` }))]
}

/**
 * Looks the tables of all layers up and checks that they can be tiled together.
 *
 * @throws TABLE_NOT_FOUND, NO_GEOMETRY_COLUMN, PROPERTY_NOT_SHOWN, BAD_FILTER, BAD_LAYERS, BAD_ZOOMS
 */
export async function findLayers(database: Queryable, input: ArchiveToPmtiles): Promise<SourceLayer[]> {
  const found: SourceLayer[] = []
  for (const { layer, path } of layersOf(input)) found.push(await findLayer(database, layer, path))
  checkLayers(
    found.map(({ tiler }) => tiler),
    zoomsOf(input.zooms),
  )
  return found
}

/** Zooms as the tiler takes them. */
export function zoomsOf(zooms: ArchiveToPmtiles['zooms'] = 'auto'): Zooms {
  if (zooms === 'auto') return zooms
  return Array.isArray(zooms) ? [zooms[0]!, zooms[1]!] : [zooms.min, zooms.max]
}

async function findLayer(database: Queryable, layer: ArchiveLayer, path: string): Promise<SourceLayer> {
  const { schema = 'public', table: name, rankBy, cluster } = layer
  const table = await findSpatialTable(database, schema, name, layer.properties ?? null, path)
  const attributes = table.attributes.map((attribute) => attribute.name)
  const check = (property: string, field: string) => {
    if (!attributes.includes(property)) throw propertyNotAttribute({ property, path: `${path}/${field}`, attributes })
    return property
  }
  const tiler: TilerLayer = {
    name: layer.layerName ?? name,
    attributes,
    ...(layer.zooms !== undefined && { zooms: zoomsOf(layer.zooms) }),
    ...(layer.dropRate !== undefined && { dropRate: layer.dropRate }),
    ...(rankBy && {
      rankBy: { attribute: check(rankBy.property, 'rankBy/property'), order: rankBy.order ?? 'largest' },
    }),
    ...(cluster && {
      cluster: {
        ...cluster,
        aggregates: (cluster.aggregates ?? []).map(({ property, operation }, i) => ({
          attribute: check(property, `cluster/aggregates/${i}/property`),
          operation,
        })),
      },
    }),
  }
  const where = layer.filter === undefined ? '' : await whereOf(database, table.name, layer.filter, path)
  const from = { table: table.name, alias: SOURCE, where }
  return { table, schema, tableName: name, tiler, from, path }
}

/** The condition of a filter as SQL. @throws BAD_FILTER for text that does not parse, and for values that the server cannot compare */
async function whereOf(database: Queryable, table: string, filter: string, path: string): Promise<string> {
  const refuse = (reason: string) => badFilter({ reason, path: `${path}/filter` })
  try {
    const query = parseQuery(new URLSearchParams(filter))
    const { conditions, order, limit, offset, select, columns, onConflict } = query
    const isMore = [select, limit, columns, onConflict].some((part) => part !== null) || order.length > 0 || offset > 0
    if (isMore || conditions.length === 0) throw refuse('it accepts only filters: no select, order, limit or offset')
    const where = whereClause(conditions, SOURCE, literals)
    await database.query(`select 1 from ${table} as ${SOURCE}${where} limit 0`)
    return where
  } catch (error) {
    if (error instanceof TerraneError && error.code === 'PGRST100')
      throw refuse(`${error.message}: ${error.details ?? ''}`)
    const { code, message } = error as { code?: unknown; message: string }
    // Undefined column or operator, or invalid value.
    if (typeof code === 'string' && /^(42|22)/.test(code)) throw refuse(message)
    throw error
  }
}
