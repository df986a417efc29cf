import type { OsmImportArea } from '@terrane/contracts'
import { identifierOf } from '@terrane/core'
import type { ImportShape } from '@terrane/database/imports'
import { stagedTable, type JobRun, type StagedTable } from '@terrane/database/staging'
import { topicTables, type ImportTable, type Topics } from '@terrane/osm'
import { SCHEMA } from '../import-names.ts'
import { tableNameTooLong } from './errors.ts'

/** Longest generated prefix: every suffix still fits into a name. */
const MADE_PREFIX_LENGTH = 40

/** A table of the import: its columns and its staging table. */
export interface Target {
  readonly table: ImportTable
  readonly staged: StagedTable
  readonly shape: ImportShape
}

type TargetsRequest = Pick<OsmImportArea, 'areaName' | 'tablePrefix' | 'mode' | 'clip'> & { readonly topics?: Topics }

/** The target tables of an import. */
export function targetsOf(input: TargetsRequest, run: JobRun): Target[] {
  const tables = topicTables(input.topics)
  const names = tableNames(input, tables)
  return tables.map((table, i) => ({
    table,
    staged: { ...stagedTable(run, i, SCHEMA, names[i]!), replaces: input.mode === 'replace' },
    shape: shapeOf(table, input.clip ?? false),
  }))
}

/** Columns and key of a table. A line that is cut at the border may become several rows, which `part` distinguishes. */
function shapeOf({ columns, geometryType, unique, measured, least }: ImportTable, clip: boolean): ImportShape {
  const inParts = clip && geometryType === 'LineString'
  return {
    geometryType,
    primaryKey: 'id',
    unique: inParts ? [...unique, 'part'] : unique,
    measured,
    least,
    columns: inParts ? [...columns, { name: 'part', type: 'int2', default: '0' }] : columns,
  }
}

/** The names of the tables of an import. @throws TABLE_NAME_TOO_LONG */
export function tableNames(
  input: Pick<OsmImportArea, 'areaName' | 'tablePrefix'>,
  tables: readonly ImportTable[],
): string[] {
  const prefix = input.tablePrefix ?? prefixOf(input.areaName)
  return tables.map(({ suffix }) => {
    const name = `${prefix}_${suffix}`
    if (name.length > 63) throw tableNameTooLong({ name })
    return name
  })
}

/** A name as a table prefix; `area` when no usable character remains. */
export function prefixOf(areaName: string): string {
  return identifierOf(areaName, 'area', MADE_PREFIX_LENGTH)
}
