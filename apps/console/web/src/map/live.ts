import { get, projectPath, request } from '../lib/api.ts'
import type { Box } from './graticule.ts'

/** A table or view that can be drawn with its current rows. */
export interface LiveTable {
  /** `schema.table`. */
  readonly name: string
  readonly geometry_type: string
  readonly rows: number | null
}

interface LiveTileJson {
  readonly bounds: Box
  readonly attribution?: string
  readonly vector_layers: readonly {
    readonly geometry_type: string
    readonly fields: Readonly<Record<string, 'String' | 'Number' | 'Boolean'>>
  }[]
}

/** Values of a property over all rows of a table, from the origin. */
export interface ColumnStats {
  readonly type: 'Number' | 'Boolean' | 'String'
  readonly rows: number
  readonly missing: number
  readonly distinct: number
  readonly values: readonly { readonly value: string | number | boolean; readonly rows: number }[]
  /** Five classes of about equal count, or fewer; empty for other types than numbers. */
  readonly classes: readonly { readonly from: number; readonly to: number; readonly rows: number }[]
}

/** Tables of the project with a geometry, without embeddings tables, which have their own section. */
export async function readLiveTables(ref: string, signal?: AbortSignal): Promise<readonly LiveTable[]> {
  const { tiles } = await request<{ tiles: Record<string, Omit<LiveTable, 'name'>> }>(
    'GET',
    projectPath(ref, '/vector/v1/catalog'),
    undefined,
    signal,
  )
  return Object.entries(tiles)
    .filter(([name]) => !name.startsWith('geoembeddings.'))
    .map(([name, about]) => ({ name, ...about }))
}

/** Extent, attribution, kind of geometry and properties of a table. */
export function readTileJson(ref: string, name: string, signal?: AbortSignal): Promise<LiveTileJson> {
  return get(projectPath(ref, `/vector/v1/${encodeURIComponent(name)}`), signal)
}

/** @param table `schema.table` */
export function readStats(ref: string, table: string, property: string, signal?: AbortSignal): Promise<ColumnStats> {
  const query = new URLSearchParams({ property })
  return get(projectPath(ref, `/vector/v1/${encodeURIComponent(table)}/stats?${query}`), signal)
}
