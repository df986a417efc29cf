import { readSync } from 'node:fs'
import { open, rm, type FileHandle } from 'node:fs/promises'
import type { Losses } from '../../losses.ts'
import type { ExportRow } from '../../rows.ts'
import { ShapeFacts } from '../../shape-facts.ts'
import type { ExportSource } from '../../source.ts'
import { FeatureEncoder } from './features.ts'
import { MAGIC, columnTypes, headerBytes } from './header.ts'
import { NODE_SIZE, Places, hilbertOrder, treeBytes } from './tree.ts'

/** Bytes that are copied at once. */
const CHUNK_BYTES = 1 << 20

/** Path of a file, and a signal that ends writing; it is checked with every batch and every chunk. */
export interface FilePlace {
  readonly path: string
  readonly signal: AbortSignal
}

/**
 * Writes a FlatGeobuf with an index into a file, with its features in the order of the index. If a row has no geometry,
 * which an index cannot hold, the file has no index and keeps the order of the rows.
 *
 * @throws the reason of the signal
 */
export async function writeFlatGeobuf(
  source: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  { path, signal }: FilePlace,
  losses: Losses,
): Promise<void> {
  const spool = `${path}.features`
  const types = columnTypes(source.columns, losses)
  try {
    await using features = await open(spool, 'wx+')
    const { places, rows, facts } = await encodeAll(
      new FeatureEncoder(source, types, losses),
      batches,
      features,
      signal,
    )
    const envelope = facts.bounds
    const isIndexed = envelope !== null && places.count === rows
    if (source.geometry && rows > 0 && !isIndexed) {
      const message = 'The file has no index, which would have no place for rows without a geometry.'
      losses.add('INDEX_LEFT_OUT', message)
    }
    await using file = await open(path, 'wx')
    await file.appendFile(MAGIC)
    await file.appendFile(headerBytes(source, types, { features: rows, envelope, nodeSize: isIndexed ? NODE_SIZE : 0 }))
    if (isIndexed) {
      const order = hilbertOrder(places, envelope)
      await file.appendFile(treeBytes(places, order))
      for (const chunk of chunksInOrder(features, places, order)) await append(file, chunk, signal)
    } else for await (const chunk of chunksOf(features)) await append(file, chunk, signal)
  } finally {
    await rm(spool, { force: true })
  }
}

async function encodeAll(
  encoder: FeatureEncoder,
  batches: AsyncIterable<readonly ExportRow[]>,
  features: FileHandle,
  signal: AbortSignal,
) {
  const facts = new ShapeFacts()
  const places = new Places()
  let [rows, offset] = [0, 0]
  for await (const batch of batches) {
    const encoded = batch.map((row) => {
      const bytes = encoder.encode(row)
      const box = facts.add(row.geometry as Uint8Array | null)
      if (box) places.add(box, offset, bytes.length)
      offset += bytes.length
      return bytes
    })
    rows += batch.length
    await append(features, Buffer.concat(encoded), signal)
  }
  return { places, rows, facts }
}

async function append(file: FileHandle, chunk: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await file.appendFile(chunk)
}

/** Features in an order; a chunk is valid until the next one. */
function* chunksInOrder(from: FileHandle, places: Places, order: Uint32Array): Generator<Buffer> {
  let chunk = Buffer.alloc(CHUNK_BYTES)
  let held = 0
  for (const item of order) {
    const bytes = places.bytes(item)
    if (held + bytes > chunk.length) {
      yield chunk.subarray(0, held)
      held = 0
      if (bytes > chunk.length) chunk = Buffer.alloc(bytes)
    }
    // Waiting for each of many small reads would take most of the time.
    readSync(from.fd, chunk, held, bytes, places.offset(item))
    held += bytes
  }
  yield chunk.subarray(0, held)
}

/** The bytes of a file; a chunk is valid until the next one. */
async function* chunksOf(from: FileHandle): AsyncGenerator<Buffer> {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  for (let position = 0; ;) {
    const { bytesRead } = await from.read(chunk, 0, chunk.length, position)
    if (bytesRead === 0) return
    yield chunk.subarray(0, bytesRead)
    position += bytesRead
  }
}
