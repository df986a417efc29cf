import { createGunzip } from 'node:zlib'
import { pipeline } from 'node:stream'
import { bunzip } from './bunzip.ts'
import { osmMalformed, osmTruncated, osmUnsupported } from './errors.ts'
import { PbfReader } from './pbf/read.ts'
import type { OsmReader } from './reader.ts'
import type { OsmSource } from './source.ts'
import { XmlReader } from './xml/read.ts'

/** First bytes of other file formats, in hexadecimal. */
const OTHER_FORMATS: Readonly<Record<string, string>> = {
  '425a68': 'bzip2 within bzip2 or gzip',
  '28b52ffd': 'zstd',
  fd377a585a00: 'xz',
  '504b0304': 'zip',
  '377abcaf': '7z',
  ffe0: 'o5m',
  '1f8b': 'gzip within gzip or bzip2',
}

/** Opens an OSM file by its content: PBF or XML, plain, gzip or bzip2. @throws OSM_UNSUPPORTED */
export async function openOsm(source: OsmSource, signal?: AbortSignal): Promise<OsmReader> {
  const plain = await unpacked(source, signal)
  return openUnpacked(plain, await firstBytes(plain, signal))
}

/** The unpacked content of a source: gzip and bzip2 are decompressed, other content is unchanged. */
export async function unpacked(source: OsmSource, signal?: AbortSignal): Promise<OsmSource> {
  const packed = await firstBytes(source, signal)
  if (packed[0] === 0x1f && packed[1] === 0x8b) return gunzipped(source)
  if (!Buffer.from(packed).toString('latin1').startsWith('BZh')) return source
  return { name: source.name, size: null, chunks: (given) => bunzip(source.chunks(given)) }
}

function openUnpacked(source: OsmSource, head: Uint8Array): OsmReader {
  if (head.length === 0) throw osmMalformed({ what: 'it is empty' })
  // A PBF file begins with the length of a header block, which is below 64 KiB.
  if (head[0] === 0 && head[1] === 0) return new PbfReader(source)
  const text = Buffer.from(head).toString('latin1')
  const xml = text.replace(/^\u00ef\u00bb\u00bf/, '').trimStart()
  if (xml.startsWith('<')) return new XmlReader(source)
  const hex = Buffer.from(head).toString('hex')
  const [, other] = Object.entries(OTHER_FORMATS).find(([magic]) => hex.startsWith(magic)) ?? []
  throw osmUnsupported({ what: other ? `it is ${other}` : 'it is neither PBF nor OSM XML' })
}

async function firstBytes(source: OsmSource, signal?: AbortSignal): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array()
  for await (const chunk of source.chunks(signal)) {
    head = Buffer.concat([head, chunk.subarray(0, 64)])
    if (head.length >= 64) break
  }
  return head
}

function gunzipped(source: OsmSource): OsmSource {
  return {
    name: source.name,
    size: null,
    async *chunks(signal) {
      const gunzip = createGunzip({ chunkSize: 1 << 20 })
      // A failure of either side also ends the loop below, which reports it.
      pipeline(source.chunks(signal), gunzip, () => {})
      try {
        for await (const chunk of gunzip) yield toBytes(chunk)
      } catch (cause) {
        const code = cause instanceof Error && 'code' in cause ? cause.code : null
        if (code === 'Z_BUF_ERROR') throw osmTruncated({ at: gunzip.bytesWritten, wanted: 'more gzip data' }, { cause })
        if (code === 'Z_DATA_ERROR') throw osmMalformed({ what: 'its gzip data is damaged' }, { cause })
        throw cause
      }
    },
  }
}

function toBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  throw new TypeError('gunzip gave no bytes')
}
