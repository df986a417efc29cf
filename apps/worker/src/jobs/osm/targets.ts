import type { OsmImportArea } from '@terrane/contracts'
import type { ImportShape } from '@terrane/database/imports'
import { stagedTable, type JobRun, type StagedTable } from '@terrane/database/staging'
import { topicTables, type ImportTable, type Topics } from '@terrane/osm'
import { SCHEMA } from '../import-names.ts'
import { tableNames } from './names.ts'

/** A table in the making: its staging table and its final name. */
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
