import type { OsmImportArea } from '@terrane/contracts'
import { identifierOf } from '@terrane/core'
import type { ImportTable } from '@terrane/osm'
import { tableNameTooLong } from './errors.ts'

/** Longest generated prefix: every suffix still fits into a name. */
const MADE_PREFIX_LENGTH = 40

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
