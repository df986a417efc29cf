import type { BlockVisitor, Kinds, OsmHeader } from '../block.ts'
import { osmMalformed } from '../errors.ts'
import type { OsmReader, ReadOptions } from '../reader.ts'
import type { OsmSource } from '../source.ts'
import { ElementCollector } from './collect.ts'
import { XmlScanner } from './scan.ts'

const BLOCK_ROWS = 1 << 16
/** A piece of text holds some hundred elements: blocks stay near their size. */
const PIECE_BYTES = 1 << 16
const ALL: Kinds = { nodes: true, ways: true, relations: true }

/** Reads OSM XML, as the API, Overpass and JOSM write it; elements marked as deleted are passed over. */
export class XmlReader implements OsmReader {
  readonly source: OsmSource

  constructor(source: OsmSource) {
    this.source = source
  }

  async header(signal?: AbortSignal): Promise<OsmHeader> {
    // The remark of Overpass comes at the end.
    return this.read(() => {}, { kinds: {}, ...(signal && { signal }) })
  }

  /** Always null: the size of an XML document is known only at its end. */
  estimateNodes(): Promise<null> {
    return Promise.resolve(null)
  }

  async read(visit: BlockVisitor, options: ReadOptions = {}): Promise<OsmHeader> {
    const collector = new ElementCollector(options.kinds ?? ALL)
    const scanner = new XmlScanner(collector)
    let offset = 0
    for await (const chunk of this.source.chunks(options.signal)) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        options.signal?.throwIfAborted()
        scanner.push(chunk.subarray(at, at + PIECE_BYTES))
        if (collector.rows >= BLOCK_ROWS) {
          await visit(collector.block)
          collector.startBlock()
        }
      }
      offset += chunk.length
      options.onBytes?.(offset)
    }
    scanner.end()
    if (collector.rows > 0) await visit(collector.block)
    if (!collector.foundRoot) throw osmMalformed({ what: 'it is empty' })
    return collector.header()
  }
}
