import { gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { registry } from 'zarrita'
import { zarrUnusable } from './errors.ts'
import { bytesOf, product } from './metadata.ts'

/** Excess of encoded over decoded bytes that is accepted, besides an eighth. */
const SLACK_BYTES = 1 << 16

type Entry = Awaited<ReturnType<NonNullable<ReturnType<typeof registry.get>>>>
type Meta = Parameters<Entry['fromConfig']>[1]
type Decode = (bytes: Uint8Array, limit: number) => Uint8Array | Promise<Uint8Array>

let isDone = false

/**
 * Replaces the decompressors of zarrita by ones that produce no more bytes than a chunk has: those of zarrita have no
 * limit. The size that blosc and lz4 allocate stands in their header and is checked before.
 */
export function boundCodecs(): void {
  if (isDone) return
  isDone = true
  for (const prefix of ['', 'numcodecs.']) {
    set(`${prefix}gzip`, (bytes, limit) => gunzipSync(bytes, { maxOutputLength: limit }))
    set(`${prefix}zlib`, (bytes, limit) => inflateSync(bytes, { maxOutputLength: limit }))
    set(`${prefix}zstd`, (bytes, limit) => zstdDecompressSync(bytes, { maxOutputLength: limit }))
    for (const [name, sizeAt] of [
      ['blosc', 4],
      ['lz4', 0],
    ] as const)
      checkHeader(`${prefix}${name}`, sizeAt)
  }
}

/** Most bytes that a chunk may have in any stage of its decoding. */
export function mostBytes(shape: readonly number[], type: string): number {
  const bytes = bytesOf(type)
  if (bytes === null) throw zarrUnusable({ why: `samples of type ${type} are not read` })
  const decoded = product(shape) * bytes
  return decoded + Math.ceil(decoded / 8) + SLACK_BYTES
}

function set(name: string, decode: Decode): void {
  registry.set(name, () =>
    Promise.resolve({
      fromConfig: (_: unknown, { shape, dataType }: Meta) => ({
        kind: 'bytes_to_bytes' as const,
        encode: () => {
          throw zarrUnusable({ why: 'stores are only read' })
        },
        decode: (bytes: Uint8Array) => decode(bytes, mostBytes(shape, dataType)),
      }),
    }),
  )
}

/** @param sizeAt where the header has the decoded size, 4 bytes, little-endian */
function checkHeader(name: string, sizeAt: number): void {
  const load = registry.get(name)
  if (load === undefined) return
  registry.set(name, async () => {
    const entry = await load()
    return {
      fromConfig: (configuration: unknown, meta: Meta) => {
        const codec = entry.fromConfig(configuration, meta)
        const limit = mostBytes(meta.shape, meta.dataType)
        return {
          kind: 'bytes_to_bytes' as const,
          encode: (bytes: Uint8Array) => codec.encode(bytes),
          decode: (bytes: Uint8Array) => {
            const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
            const size = bytes.byteLength < sizeAt + 4 ? Infinity : view.getUint32(sizeAt, true)
            if (size > limit) throw new RangeError(`it decodes to ${size} bytes; the limit is ${limit}`)
            return codec.decode(bytes)
          },
        }
      },
    }
  })
}
