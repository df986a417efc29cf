import { open, readFile, readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'

const HEAD_BYTES = 100
/** Bytes of an entry in MapInfo's `.id`: the place of a row's object in the `.map`. */
const PLACE_BYTES = 4
/** A `.map` consists of blocks of a multiple of these. */
const BLOCK_BYTES = 512
/** End mark of a DGN, and the size of an element's header, which ends with the number of words after it. */
const DGN_END = 0xffff
const DGN_HEAD_BYTES = 4
/** Larger drawings are not checked. */
const LARGEST_DRAWING = 2 ** 28

/** Size of a file in bytes according to its own header, by the ending of its name. */
const TOLD_BYTES: Readonly<Record<string, (head: Buffer) => number>> = {
  // ESRI Shapefile Technical Description (1998): words of 16 bits.
  shp: (head) => head.readInt32BE(24) * 2,
  shx: (head) => head.readInt32BE(24) * 2,
  // dBASE III: head, then rows of fixed width. MapInfo has its cells in such a table, too.
  dbf: bytesOfTable,
  dat: bytesOfTable,
  // "FGDB-Spec" in rouault/dump_gdbtable.
  gdbtable: (head) => Number(head.readBigInt64LE(24)),
}

function bytesOfTable(head: Buffer): number {
  return head.readUInt16LE(8) + head.readUInt32LE(4) * head.readUInt16LE(10)
}

/**
 * Finds files of a data set that are shorter than their headers declare, e.g. after an aborted download. Readers,
 * including GDAL, read the existing part without an error.
 *
 * @param path a folder, or a file in a folder of its own data set
 * @returns their names
 */
export async function shortFiles(path: string): Promise<string[]> {
  const folder = (await stat(path)).isDirectory() ? path : join(path, '..')
  const names = (await readdir(folder)).toSorted()
  const found = await Promise.all(names.map(async (name) => ((await isShort(join(folder, name))) ? name : null)))
  return found.filter((name) => name !== null)
}

async function isShort(path: string): Promise<boolean> {
  const ending = basename(path).replace(/^.*\./, '').toLowerCase()
  if (ending === 'dgn') return (await stat(path)).size <= LARGEST_DRAWING && isShortDrawing(await readFile(path))
  if (ending === 'map' || ending === 'id') return isShortMapInfo(path, ending)
  const told = TOLD_BYTES[ending]
  if (!told) return false
  const { head, size } = await headOf(path)
  return head === null || told(head) > size
}

/** Checks that a MapInfo table has a place in its `.id` for each row, and that each place lies within its `.map`. */
async function isShortMapInfo(path: string, ending: 'map' | 'id'): Promise<boolean> {
  const beside = async (other: string) => {
    const name = `${basename(path, `.${path.split('.').at(-1)}`)}.${other}`.toLowerCase()
    const names = await readdir(join(path, '..'))
    const found = names.find((candidate) => candidate.toLowerCase() === name)
    return found === undefined ? null : join(path, '..', found)
  }
  const { size } = await stat(path)
  if (ending === 'id') {
    const table = await beside('dat')
    const { head } = table === null ? { head: null } : await headOf(table)
    return head !== null && head.readUInt32LE(4) * PLACE_BYTES > size
  }
  const list = await beside('id')
  // Other programs write files with the extension .map as well.
  if (list === null) return false
  if (size % BLOCK_BYTES !== 0) return true
  const places = await readFile(list)
  for (let at = 0; at + PLACE_BYTES <= places.length; at += PLACE_BYTES)
    if (places.readUInt32LE(at) >= size) return true
  return false
}

/** Elements of a DGN follow each other up to one of all ones (ISFF, version 7). */
function isShortDrawing(bytes: Buffer): boolean {
  let at = 0
  while (at + DGN_HEAD_BYTES <= bytes.length && bytes.readUInt16LE(at) !== DGN_END) {
    at += DGN_HEAD_BYTES + bytes.readUInt16LE(at + 2) * 2
  }
  return at > bytes.length
}

async function headOf(path: string): Promise<{ readonly head: Buffer | null; readonly size: number }> {
  await using file = await open(path)
  const { size } = await file.stat()
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
  return { head: bytesRead < 32 ? null : buffer, size }
}
