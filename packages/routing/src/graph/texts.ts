import { firstAtLeast } from './first-at-least.ts'
import type { Graph } from './graph.ts'

/** A name of a street, or the text of a sign. */
export interface Name {
  readonly text: string
  readonly isRouteNumber: boolean
}

/** A sign along an edge. */
export interface Sign extends Name {
  /** See `SignType`. */
  readonly type: number
}

/** Maximum number of decoded texts in the cache. */
const CAPACITY = 100_000

/** Reads the names and signs of a graph and caches them. */
export class TextReader {
  readonly #graph: Graph
  readonly #decoder = new TextDecoder()
  readonly #names = new Map<number, readonly Name[]>()

  constructor(graph: Graph) {
    this.#graph = graph
  }

  /** Names of an edge, most important first. Repeated calls for an edge return the same array. */
  names(edge: number): readonly Name[] {
    const { edgeNames, firstName, nameText } = this.#graph
    const list = edgeNames[edge]!
    let names = this.#names.get(list)
    if (names === undefined) {
      names = this.#read(nameText.subarray(firstName[list], firstName[list + 1]))
      if (this.#names.size >= CAPACITY) this.#names.clear()
      this.#names.set(list, names)
    }
    return names
  }

  /** Signs of an edge; empty for most. */
  signs(edge: number): readonly Sign[] {
    const { signEdge, firstSign, signText, signType } = this.#graph
    const at = firstAtLeast(signEdge, edge)
    if (signEdge[at] !== edge) return []
    const first = firstSign[at]!
    return this.#read(signText.subarray(first, firstSign[at + 1])).map((name, i) => ({
      ...name,
      type: signType[first + i]!,
    }))
  }

  text(text: number): string {
    return this.#decode(text)
  }

  #read(stored: Uint32Array): Name[] {
    return Array.from(stored, (text) => ({ text: this.#decode(text >>> 1), isRouteNumber: (text & 1) === 1 }))
  }

  #decode(text: number): string {
    const { firstByte, textBytes } = this.#graph
    // Text in shared memory cannot be decoded in place.
    return this.#decoder.decode(textBytes.slice(firstByte[text], firstByte[text + 1]))
  }
}
