import { open, stat } from 'node:fs/promises'
import { TerraneError } from '@terrane/core/errors'
import type { FieldType } from './feature-stream.ts'
import { parseXml } from './read/xml.ts'

/** Bytes at the beginning of a file in which its reference system is looked for. */
const HEAD_BYTES = 1 << 20
/** Largest schema that is read. */
const MOST_SCHEMA_BYTES = 16 << 20
const ADV_SYSTEM = /srsName\s*=\s*["']urn:adv:crs:([\w*.-]{1,60})["']/g
/** Systems of the German surveys (GeoInfoDok), by their names, without vertical systems. */
const ADV_CODES: Readonly<Record<string, number>> = {
  ETRS89_UTM31: 25831,
  ETRS89_UTM32: 25832,
  ETRS89_UTM33: 25833,
  'ETRS89_UTM31*DE_DHHN92_NH': 25831,
  'ETRS89_UTM32*DE_DHHN92_NH': 25832,
  'ETRS89_UTM33*DE_DHHN92_NH': 25833,
  'ETRS89_UTM31*DE_DHHN2016_NH': 25831,
  'ETRS89_UTM32*DE_DHHN2016_NH': 25832,
  'ETRS89_UTM33*DE_DHHN2016_NH': 25833,
  'ETRS89_Lat-Lon': 4258,
  DE_DHDN_3GK2: 31466,
  DE_DHDN_3GK3: 31467,
  DE_DHDN_3GK4: 31468,
  DE_DHDN_3GK5: 31469,
  'DE_42-83_3GK4': 2398,
  'DE_42-83_3GK5': 2399,
}

/** Column types by type of a schema; for others, such as unbounded whole numbers, the values decide. */
const TYPES: Readonly<Record<string, FieldType>> = {
  boolean: 'bool',
  byte: 'int4',
  short: 'int4',
  unsignedByte: 'int4',
  unsignedShort: 'int4',
  int: 'int4',
  unsignedInt: 'int8',
  long: 'int8',
  decimal: 'numeric',
  float: 'float8',
  double: 'float8',
  date: 'date',
  time: 'time',
  string: 'text',
  normalizedString: 'text',
  token: 'text',
  anyURI: 'text',
}

/** The EPSG code of the one system of German surveys that a GML names; null for none or several. */
export async function surveySystem(path: string): Promise<number | null> {
  await using file = await open(path)
  const bytes = Buffer.alloc(HEAD_BYTES)
  const { bytesRead } = await file.read(bytes, 0, HEAD_BYTES, 0)
  const names = [...bytes.toString('latin1', 0, bytesRead).matchAll(ADV_SYSTEM)].map(([, name]) => name!)
  const codes = new Set(names.map((name) => ADV_CODES[name]).filter((code) => code !== undefined))
  return codes.size === 1 ? [...codes][0]! : null
}

/**
 * Types of the elements that an XML schema declares, by their names. An element with differing declarations has none.
 * Null where the file is damaged, no XML, or larger than 16 MiB.
 */
export async function schemaTypes(path: string): Promise<Readonly<Record<string, FieldType>> | null> {
  if ((await stat(path)).size > MOST_SCHEMA_BYTES) return null
  try {
    return await declaredTypes(path)
  } catch (error) {
    if (error instanceof TerraneError && error.code === 'CONVERSION_FAILED') return null
    throw error
  }
}

/** @throws CONVERSION_FAILED for XML that is damaged */
async function declaredTypes(path: string): Promise<Readonly<Record<string, FieldType>>> {
  const elements: { readonly name: string; base: string | null }[] = []
  const simple = new Map<string, string>()
  const parents: { readonly element: { base: string | null } | null; readonly type: string | null }[] = []
  await parseXml(path, {
    open(name, { name: own, type, base }) {
      const element = name === 'element' && own !== undefined ? { name: own, base: type ?? null } : null
      if (element) elements.push(element)
      if (name === 'restriction' && base !== undefined) {
        const around = parents.findLast((one) => one.element !== null || one.type !== null)
        if (around?.element) around.element.base ??= base
        else if (around?.type != null && !simple.has(around.type)) simple.set(around.type, base)
      }
      parents.push({ element, type: name === 'simpleType' ? (own ?? null) : null })
    },
    close() {
      parents.pop()
    },
  })
  const found = new Map<string, FieldType | null>()
  for (const { name, base } of elements) {
    const type = base === null ? null : typeOf(base, simple)
    found.set(name, found.has(name) && found.get(name) !== type ? null : type)
  }
  return Object.fromEntries([...found].flatMap(([name, type]) => (type === null ? [] : [[name, type]])))
}

/** A type by its name, or the type that it restricts. */
function typeOf(name: string, simple: ReadonlyMap<string, string>, depth = 0): FieldType | null {
  const local = name.split(':').at(-1)!
  const base = simple.get(local)
  return TYPES[local] ?? (base !== undefined && depth < 10 ? typeOf(base, simple, depth + 1) : null)
}
