import { open, readFile, readdir } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import type { Dataset } from './unpack/find-datasets.ts'
import type { TypesOfLayers } from './read/protocol.ts'
import { refuseBytes } from './read/shapefile/foxpro.ts'

const HEAD_BYTES = 32
const FIELD_BYTES = 32
const LAST_FIELD = 0x0d
const MOST_FIELDS = 2048

/**
 * Boolean fields of Shapefiles and MapInfo files, which older engines return as texts of one letter, and MapInfo's
 * times, which have no zone; by the names of layers.
 *
 * @throws CONVERSION_FAILED for a table with binary columns that older engines return as texts
 */
export async function logicalFields({ folder, driver }: Dataset): Promise<TypesOfLayers> {
  const found: Record<string, Readonly<Record<string, 'bool' | 'timestamp'>>> = {}
  if (driver !== 'ESRI Shapefile' && driver !== 'MapInfo File') return found
  for (const name of await readdir(folder)) {
    const ending = extname(name)
    const path = join(folder, name)
    if (driver === 'ESRI Shapefile' && ending === '.dbf') found[basename(name, ending)] = await ofDbf(path)
    else if (driver === 'MapInfo File' && (ending === '.tab' || ending === '.mif')) {
      found[basename(name, ending)] = ofMapInfo(await readFile(path, 'latin1'))
    }
  }
  return found
}

/**
 * Field descriptors of a dBASE file: name up to NUL, the letter of the type at 11, the width at 16.
 *
 * @throws CONVERSION_FAILED for binary types that the engine reads as texts
 */
async function ofDbf(path: string): Promise<Record<string, 'bool'>> {
  await using file = await open(path)
  const bytes = Buffer.alloc(HEAD_BYTES + MOST_FIELDS * FIELD_BYTES)
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
  const names: string[] = []
  for (let at = HEAD_BYTES; at + FIELD_BYTES <= bytesRead && bytes[at] !== LAST_FIELD; at += FIELD_BYTES) {
    const name = bytes.toString('latin1', at, at + 11).replace(/\0.*$/s, '')
    const letter = String.fromCharCode(bytes[at + 11]!)
    refuseBytes({ name, letter, width: bytes[at + 16]! }, bytes[0]!)
    if (letter === 'L') names.push(name)
  }
  return Object.fromEntries(names.map((name) => [name, 'bool']))
}

/** Lines such as `Name Logical`, at the head of a table or of an interchange file. */
function ofMapInfo(text: string): Record<string, 'bool' | 'timestamp'> {
  const lines = text.split(/\r\n|[\r\n]/).map((line) => line.trim())
  const data = lines.findIndex((line) => line.toLowerCase() === 'data')
  const fields = lines.slice(0, data < 0 ? undefined : data).flatMap((line) => {
    const [name = '', type = ''] = line.split(/\s+/, 2)
    const own = /^logical\b/i.test(type) ? 'bool' : /^datetime\b/i.test(type) ? 'timestamp' : null
    return own ? [[name, own] as const] : []
  })
  return Object.fromEntries(fields)
}
