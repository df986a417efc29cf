import { answerTooLarge } from '../errors.ts'
import { ColumnBuilder, narrowed, type ScanBatch, type ScanColumn } from './columns.ts'

/** Signature and flags; the length of an extension follows. */
const HEADER = 15
const END = -1

/** Decodes PostgreSQL's binary COPY format (manual, COPY, binary format) from chunks of any size into batches of columns. */
export class CopyDecoder {
  readonly #columns: readonly ColumnBuilder[]
  readonly #batchRows: number
  readonly #batchBytes: number
  readonly #rowBytes: number
  /** Bytes that are not decoded yet, and how many are needed to continue. */
  #parts: Buffer[] = []
  #size = 0
  #needed = HEADER + 4
  #rows = 0
  #bytes = 0
  #started = false
  #ended = false

  /**
   * @param batchBytes bytes that complete a batch with fewer rows than `batchRows`
   * @param rowBytes maximum bytes of a row
   */
  constructor(
    columns: readonly ScanColumn[],
    { batchRows, batchBytes, rowBytes }: { batchRows: number; batchBytes: number; rowBytes: number },
  ) {
    this.#columns = columns.map(({ type }) => new ColumnBuilder(type))
    this.#batchRows = batchRows
    this.#batchBytes = batchBytes
    this.#rowBytes = rowBytes
  }

  /** Decodes the next bytes; yields completed batches. @throws ANSWER_TOO_LARGE at the declared size of a row */
  *push(chunk: Buffer): Generator<ScanBatch> {
    if (this.#ended) return
    this.#parts.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#size)
    let at = 0
    if (!this.#started) {
      at = HEADER + 4 + bytes.readInt32BE(HEADER)
      this.#started = true
    }
    let end = this.#rowEnd(bytes, at)
    while (end <= bytes.length) {
      this.#readRow(bytes, at)
      this.#bytes += end - at
      at = end
      if (++this.#rows >= this.#batchRows || this.#bytes >= this.#batchBytes) yield this.#take()
      end = this.#rowEnd(bytes, at)
    }
    this.#ended = end === Infinity
    this.#parts = [bytes.subarray(at)]
    this.#size = bytes.length - at
    this.#needed = end - at
  }

  /** Yields what remains. */
  *end(): Generator<ScanBatch> {
    if (this.#rows > 0) yield this.#take()
  }

  #rowEnd(bytes: Buffer, at: number): number {
    const end = rowEnd(bytes, at)
    if (end - at > this.#rowBytes && end !== Infinity) throw answerTooLarge({ limit: this.#rowBytes })
    return end
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

/** End of the row at a position, or start of a later value whose length is incomplete; Infinity after the last row. */
function rowEnd(bytes: Buffer, start: number): number {
  let at = start + 2
  if (bytes.length < at) return at
  const fields = bytes.readInt16BE(start)
  if (fields === END) return Infinity
  for (let i = 0; i < fields; i++) {
    if (bytes.length < at + 4) return at + 4
    at += 4 + Math.max(0, bytes.readInt32BE(at))
  }
  return at
}

function readValue(bytes: Buffer, at: number, length: number, type: 'int8' | 'float8' | 'bool' | 'text') {
  switch (type) {
    case 'int8': {
      // Most numbers are small; reading them as two halves avoids a bigint.
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
