import { createGunzip } from 'node:zlib'
import { pipeline } from 'node:stream'
import { osmMalformed, osmTruncated, osmUnsupported } from './errors.ts'
import { PbfReader } from './pbf/read.ts'
import type { OsmReader } from './reader.ts'
import type { OsmSource } from './source.ts'
import { XmlReader } from './xml/read.ts'

/**
 * Opens an OSM file by what it holds, not by its name: PBF, OSM XML, or OSM XML packed with gzip.
 * @throws OSM_UNSUPPORTED for anything else
 */
export async function openOsm(source: OsmSource, signal?: AbortSignal): Promise<OsmReader> {
  const head = await firstBytes(source, signal)
  if (head[0] === 0x1f && head[1] === 0x8b) return new XmlReader(gunzipped(source))
  if (head.length === 0) throw osmMalformed({ what: 'it is empty' })
  // A PBF file begins with the length of a header block, which is below 64 KiB.
  if (head[0] === 0 && head[1] === 0) return new PbfReader(source)
  const text = Buffer.from(head)
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
    .trimStart()
  if (text.startsWith('<')) return new XmlReader(source)
  throw osmUnsupported({ what: `${source.name} is neither PBF nor OSM XML` })
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
