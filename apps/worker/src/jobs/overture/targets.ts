import type { OvertureImportArea } from '@terrane/contracts'
import type { ImportShape } from '@terrane/database/imports'
import { OVERTURE_TYPES, typesOf, type DecodedRows, type OvertureColumn } from '@terrane/overture'
import { tableNameTooLong } from '../osm/errors.ts'
import { prefixOf } from '../osm/targets.ts'
import { noTypes } from './errors.ts'

export type TableFamily = DecodedRows['family']

const GEOMETRY_TYPES = { point: 'Point', line: 'LineString', polygon: 'MultiPolygon' } as const
const FAMILIES = ['point', 'line', 'polygon'] as const

/** Types whose lines may be multi-lines. */
const MULTI_LINES: ReadonlySet<string> = new Set(['division_boundary', 'land', 'land_use', 'water', 'infrastructure'])

/** A table of a type: its suffix and the family of geometries that goes into it. */
export interface TablePlan {
  readonly type: string
  readonly suffix: string
  readonly family: TableFamily
  readonly geometryType: ImportShape['geometryType']
}

/** The tables of a type: one, or one per geometry family where the type mixes them. */
export function tablesOf(type: string): TablePlan[] {
  const { geometry } = OVERTURE_TYPES[type]!
  return geometry === 'mixed' ? FAMILIES.map((family) => tableOf(type, family)) : [tableOf(type, geometry)]
}

/** The table of a type for a family; an unexpected family gets a table of its own. */
export function tableOf(type: string, family: TableFamily): TablePlan {
  const isUsual = OVERTURE_TYPES[type]!.geometry === family
  const geometryType = family === 'line' && MULTI_LINES.has(type) ? 'MultiLineString' : GEOMETRY_TYPES[family]
  return { type, family, geometryType, suffix: isUsual ? type : `${type}_${family}` }
}

/** The families of a type whose geometries are stored as multi-geometries. */
export function multiFamilies(type: string): TableFamily[] {
  return FAMILIES.filter((family) => tableOf(type, family).geometryType.startsWith('Multi'))
}

export function shapeOf(table: TablePlan, columns: readonly OvertureColumn[]): ImportShape {
  return {
    geometryType: table.geometryType,
    primaryKey: 'id',
    columns: [...columns.map(({ name, type }) => ({ name, type })), { name: 'geom', type: 'geometry' as const }],
  }
}

/** @throws NO_TYPES */
export function requestedTypes(input: OvertureImportArea): string[] {
  const types = typesOf(input.topics ?? [], input.types ?? [])
  if (types.length === 0) throw noTypes()
  return types
}

/** @throws TABLE_NAME_TOO_LONG */
export function nameOf(input: OvertureImportArea, { suffix }: TablePlan): string {
  const name = `${input.tablePrefix ?? prefixOf(input.areaName)}_${suffix}`
  if (name.length > 63) throw tableNameTooLong({ name })
  return name
}
