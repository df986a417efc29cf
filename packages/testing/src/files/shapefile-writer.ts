import { writeFile } from 'node:fs/promises'

/** A column of dBASE: name, letter of the type, width, decimals. */
export type DbfColumn = readonly [name: string, letter: string, width: number, decimals?: number]

/** Content of a Shapefile, as stored. */
export interface Shapes {
  readonly kind: number
  /** Content of each record: see {@link pointShape} and {@link partsShape}. */
  readonly shapes: readonly Buffer[]
  readonly columns: readonly DbfColumn[]
  /** Cells as stored in the table, in Latin-1; a `*` at the beginning of a row marks it as deleted. */
  readonly rows: readonly (readonly string[])[]
  readonly deleted?: ReadonlySet<number>
  readonly languageDriver?: number
  readonly prj?: string
  readonly cpg?: string
}

export const WGS84 =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'

/** Writes `{base}.shp` and its companion files (ESRI Shapefile Technical Description, 1998; dBASE III). */
export async function writeShapefile(base: string, file: Shapes): Promise<void> {
  const shapes: Buffer[] = []
  const index: Buffer[] = []
  let words = 50
  for (const [i, shape] of file.shapes.entries()) {
    shapes.push(bigEndian(i + 1, shape.length / 2), shape)
    index.push(bigEndian(words, shape.length / 2))
    words += 4 + shape.length / 2
  }
  await writeFile(`${base}.shp`, Buffer.concat([headOf(file.kind, words), ...shapes]))
  await writeFile(`${base}.shx`, Buffer.concat([headOf(file.kind, 50 + 4 * index.length), ...index]))
  await writeFile(`${base}.dbf`, tableOf(file))
  if (file.prj !== undefined) await writeFile(`${base}.prj`, file.prj)
  if (file.cpg !== undefined) await writeFile(`${base}.cpg`, file.cpg)
}

export function pointShape(x: number, y: number): Buffer {
  return Buffer.concat([littleEndian(1), doubles([x, y])])
}

/** A line (3) or an area (5) of parts, each a list of positions. */
export function partsShape(kind: number, parts: readonly (readonly (readonly [number, number])[])[]): Buffer {
  const positions = parts.flat()
  const [xs, ys] = [positions.map(([x]) => x), positions.map(([, y]) => y)]
  const box = doubles([Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)])
  let start = 0
  const starts = parts.map((part) => (start += part.length) - part.length)
  return Buffer.concat([
    littleEndian(kind),
    box,
    littleEndian(parts.length, positions.length, ...starts),
    doubles(positions.flat()),
  ])
}

/** A record without a shape. */
export const NO_SHAPE = Buffer.alloc(4)

function headOf(kind: number, words: number): Buffer {
  const head = Buffer.alloc(100)
  head.writeInt32BE(9994, 0)
  head.writeInt32BE(words, 24)
  head.writeInt32LE(1000, 28)
  head.writeInt32LE(kind, 32)
  return head
}

/** The bytes of a `.dbf`. */
export function tableOf({ columns, rows, deleted, languageDriver = 0 }: Omit<Shapes, 'kind' | 'shapes'>): Buffer {
  const width = 1 + columns.reduce((sum, [, , size]) => sum + size, 0)
  const head = Buffer.alloc(32)
  head[0] = 3
  head.writeUInt32LE(rows.length, 4)
  head.writeUInt16LE(33 + 32 * columns.length, 8)
  head.writeUInt16LE(width, 10)
  head[29] = languageDriver
  const fields = columns.map(([name, letter, size, decimals = 0]) => {
    const field = Buffer.alloc(32)
    field.write(name, 'latin1')
    field.write(letter, 11, 'latin1')
    field[16] = size
    field[17] = decimals
    return field
  })
  const cells = rows.map((row, i) => {
    const texts = columns.map(([, letter, size], at) =>
      letter === 'N' || letter === 'F' ? (row[at] ?? '').padStart(size) : (row[at] ?? '').padEnd(size),
    )
    return Buffer.from(`${deleted?.has(i) ? '*' : ' '}${texts.join('')}`, 'latin1')
  })
  return Buffer.concat([head, ...fields, Buffer.from([0x0d]), ...cells, Buffer.from([0x1a])])
}

function bigEndian(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeInt32BE(value, 4 * i)
  return bytes
}

function littleEndian(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeInt32LE(value, 4 * i)
  return bytes
}

function doubles(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length)
  for (const [i, value] of values.entries()) bytes.writeDoubleLE(value, 8 * i)
  return bytes
}
