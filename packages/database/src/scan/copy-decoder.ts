import { ColumnBuilder, narrowed, type ScanBatch, type ScanColumn } from './columns.ts'

/** Signature and flags; the length of an extension follows. */
const HEADER = 15
const END = -1

/** Decodes PostgreSQL's binary COPY format (manual, COPY, binary format) from chunks of any size into batches of columns. */
export class CopyDecoder {
  readonly #columns: readonly ColumnBuilder[]
  readonly #batchRows: number
  readonly #batchBytes: number
  #rest: Buffer = Buffer.alloc(0)
  #rows = 0
  #bytes = 0
  #started = false

  constructor(columns: readonly ScanColumn[], batchRows: number, batchBytes: number) {
    this.#columns = columns.map(({ type }) => new ColumnBuilder(type))
    this.#batchRows = batchRows
    this.#batchBytes = batchBytes
  }

  /** Takes the next bytes; yields the batches that they complete. */
  *push(chunk: Buffer): Generator<ScanBatch> {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    if (!this.#started) {
      if (bytes.length < HEADER + 4) {
        this.#rest = bytes
        return
      }
      at = HEADER + 4 + bytes.readInt32BE(HEADER)
      this.#started = true
    }
    for (let end = rowEnd(bytes, at); end > at; end = rowEnd(bytes, at)) {
      this.#readRow(bytes, at)
      this.#bytes += end - at
      at = end
      if (++this.#rows >= this.#batchRows || this.#bytes >= this.#batchBytes) yield this.#take()
    }
    this.#rest = bytes.subarray(at)
  }

  /** Yields what remains. */
  *end(): Generator<ScanBatch> {
    if (this.#rows > 0) yield this.#take()
  }

  #take(): ScanBatch {
    const batch = { rows: this.#rows, columns: this.#columns.map((column) => column.take()) }
    this.#rows = 0
    this.#bytes = 0
    return batch
  }

  #readRow(bytes: Buffer, start: number): void {
    let at = start + 2
    for (const column of this.#columns) {
      const length = bytes.readInt32BE(at)
      at += 4
      if (column.type === 'bytes') column.addBytes(length < 0 ? null : bytes.subarray(at, at + length))
      else column.values.push(length < 0 ? null : readValue(bytes, at, length, column.type))
      if (length > 0) at += length
    }
  }
}

/** Where the row at a position ends; the position itself when it is not all there, or none follows. */
function rowEnd(bytes: Buffer, start: number): number {
  if (bytes.length < start + 2) return start
  const fields = bytes.readInt16BE(start)
  if (fields === END) return start
  let at = start + 2
  for (let i = 0; i < fields; i++) {
    if (bytes.length < at + 4) return start
    at += 4 + Math.max(0, bytes.readInt32BE(at))
  }
  return at > bytes.length ? start : at
}

function readValue(bytes: Buffer, at: number, length: number, type: 'int8' | 'float8' | 'bool' | 'text') {
  switch (type) {
    case 'int8': {
      // Most numbers are small: reading two halves spares the bigint.
      const high = bytes.readInt32BE(at)
      if (high > -0x200000 && high < 0x200000) return high * 0x100000000 + bytes.readUInt32BE(at + 4)
      return narrowed(bytes.readBigInt64BE(at))
    }
    case 'float8':
      return bytes.readDoubleBE(at)
    case 'bool':
      return bytes[at] === 1
    case 'text':
      return bytes.toString('utf8', at, at + length)
  }
}
