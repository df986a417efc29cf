import { blockElements } from '../element.ts'
import type { OsmElement, OsmNode, OsmRelation, OsmWay } from '../element.ts'
import { osmMalformed, osmTooLarge, osmUnsupported } from '../errors.ts'
import { unpacked } from '../open.ts'
import type { OsmSource } from '../source.ts'
import { ElementCollector } from '../xml/collect.ts'
import { XmlScanner } from '../xml/scan.ts'
import type { Attributes, XmlHandler } from '../xml/scan.ts'

/** The last state of each element of a change file; null for one that is deleted. */
export interface OsmChanges {
  readonly nodes: Map<number, OsmNode | null>
  readonly ways: Map<number, OsmWay | null>
  readonly relations: Map<number, OsmRelation | null>
}

export interface ReadChangesOptions {
  readonly signal?: AbortSignal
  /** Most elements of a file. 4 million when absent. */
  readonly maxElements?: number
  /** Most bytes of XML. 16 GiB when absent. */
  readonly maxBytes?: number
  /** Most bytes of memory of the elements, their references and their texts, as estimated. 1 GiB when absent. */
  readonly memoryBytes?: number
}

const BLOCK_ROWS = 1 << 16
const PIECE_BYTES = 1 << 16
const MAX_ELEMENTS = 4_000_000
const MAX_BYTES = 2 ** 34
const MEMORY_BYTES = 2 ** 30
/** Memory of an element with its entries in the maps, of a tag or member, and of a reference of a way. */
const ELEMENT_BYTES = 256
const PART_BYTES = 96
const REFERENCE_BYTES = 16

/**
 * Reads an OsmChange file, packed with gzip or not. Of several entries for an element the highest version
 * counts, and of equal versions the last. Source: OSM wiki "OsmChange".
 *
 * @throws OSM_UNSUPPORTED, OSM_MALFORMED, OSM_TRUNCATED, OSM_TOO_LARGE
 */
export async function readChanges(source: OsmSource, options: ReadChangesOptions = {}): Promise<OsmChanges> {
  const { signal, maxElements = MAX_ELEMENTS, maxBytes = MAX_BYTES, memoryBytes = MEMORY_BYTES } = options
  const handler = new ChangeHandler(maxElements, memoryBytes)
  const scanner = new XmlScanner(handler)
  let bytes = 0
  for await (const chunk of (await unpacked(source, signal)).chunks(signal)) {
    bytes += chunk.length
    if (bytes > maxBytes) throw osmTooLarge({ what: 'The size of a change file', size: bytes, limit: maxBytes })
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      signal?.throwIfAborted()
      scanner.push(chunk.subarray(at, at + PIECE_BYTES))
      if (handler.rows >= BLOCK_ROWS) handler.drain()
    }
  }
  scanner.end()
  if (!handler.foundRoot) throw osmMalformed({ what: 'it is empty' })
  return handler.finish()
}

class ChangeHandler implements XmlHandler {
  foundRoot = false
  readonly #collector = new ElementCollector({ nodes: true, ways: true, relations: true }, { hasVersions: true })
  readonly #maxElements: number
  readonly #changes = { node: new Map(), way: new Map(), relation: new Map() } as Record<
    OsmElement['type'],
    Map<number, OsmElement | null>
  >
  readonly #versions = { node: new Map(), way: new Map(), relation: new Map() } as Record<
    OsmElement['type'],
    Map<number, number>
  >
  /** Versions of the elements of the block, by kind in its order. */
  #pending: Record<OsmElement['type'], number[]> = { node: [], way: [], relation: [] }
  #action: string | null = null
  #bytes = 0
  readonly #memoryBytes: number

  constructor(maxElements: number, memoryBytes: number) {
    this.#maxElements = maxElements
    this.#memoryBytes = memoryBytes
  }

  get rows(): number {
    return this.#collector.rows
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'osmChange') {
      this.foundRoot = this.#collector.foundRoot = true
      return
    }
    if (!this.foundRoot) throw osmUnsupported({ what: `its root is <${name}>, not <osmChange>` })
    if (name === 'create' || name === 'modify' || name === 'delete') {
      this.#action = name
      return
    }
    this.#count(name, attributes)
    if (name !== 'node' && name !== 'way' && name !== 'relation') return this.#collector.open(name, attributes)
    if (this.#action === null) throw osmMalformed({ what: `<${name}> stands outside <create>, <modify> and <delete>` })
    const version = Number(attributes.get('version') ?? Number.NaN)
    const isGone = this.#action === 'delete' || attributes.get('visible') === 'false'
    if (!isGone && attributes.get('action') !== 'delete') {
      this.#pending[name].push(version)
      return this.#collector.open(name, attributes)
    }
    this.drain()
    const id = Number(attributes.get('id') ?? Number.NaN)
    if (!Number.isSafeInteger(id)) throw osmMalformed({ what: `a deleted ${name} has no id` })
    this.#set(name, id, version, null)
  }

  close(name: string): void {
    if (name === this.#action) this.#action = null
    this.#collector.close(name)
  }

  text(): void {}

  /** Takes the elements of the block over. */
  drain(): void {
    if (this.rows === 0) return
    const next = { node: 0, way: 0, relation: 0 }
    for (const element of blockElements(this.#collector.block)) {
      const version = this.#pending[element.type][next[element.type]++] ?? Number.NaN
      this.#set(element.type, element.id, version, element)
    }
    // The version of an element that is still open stays in the list.
    for (const kind of ['node', 'way', 'relation'] as const) this.#pending[kind].splice(0, next[kind])
    this.#collector.startBlock()
  }

  finish(): OsmChanges {
    this.drain()
    const { node, way, relation } = this.#changes
    return { nodes: node, ways: way, relations: relation } as unknown as OsmChanges
  }

  /** Counts memory before it is allocated, because a small packed file may expand beyond it. */
  #count(name: string, attributes: Attributes): void {
    if (name === 'nd') this.#bytes += REFERENCE_BYTES
    else if (name === 'tag') this.#bytes += PART_BYTES + textBytes(attributes, 'k') + textBytes(attributes, 'v')
    else if (name === 'member') this.#bytes += PART_BYTES + textBytes(attributes, 'role')
    else this.#bytes += ELEMENT_BYTES
    if (this.#bytes <= this.#memoryBytes) return
    const what = 'The memory that the elements of a change file take'
    throw osmTooLarge({ what, size: this.#bytes, limit: this.#memoryBytes })
  }

  #set(kind: OsmElement['type'], id: number, version: number, element: OsmElement | null): void {
    const known = this.#versions[kind].get(id)
    if (known !== undefined && version < known) return
    this.#versions[kind].set(id, version)
    const changes = this.#changes[kind]
    changes.set(id, element)
    const size = changes.size
    if (size > this.#maxElements) {
      throw osmTooLarge({ what: `The number of changed ${kind}s`, size, limit: this.#maxElements })
    }
  }
}

function textBytes(attributes: Attributes, name: string): number {
  return 2 * (attributes.get(name)?.length ?? 0)
}
