import type { OsmImportArea } from '@terrane/contracts'
import type { ImportTable } from '@terrane/osm'
import { tableNameTooLong } from './errors.ts'

/** Longest prefix that is made here: every suffix fits beside it. */
const MADE_PREFIX_LENGTH = 40

/**
 * The names of the tables of an import.
 * @throws TABLE_NAME_TOO_LONG
 */
export function tableNames(input: OsmImportArea, tables: readonly ImportTable[]): string[] {
  const prefix = input.tablePrefix ?? slug(input.areaName)
  return tables.map(({ suffix }) => {
    const name = `${prefix}_${suffix}`
    if (name.length > 63) throw tableNameTooLong({ name })
    return name
  })
}

/** A name as a table prefix: lower-case letters of ASCII, digits and underscores; `area` where nothing is left. */
export function slug(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{Mark}/gu, '')
    .replaceAll('ß', 'ss')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, MADE_PREFIX_LENGTH)
    .replaceAll(/^_+|_+$/g, '')
  if (plain === '') return 'area'
  return /^[a-z]/.test(plain) ? plain : `area_${plain}`
}
