/**
 * A 4-ary min-heap of vertex numbers with decrease-key, over flat arrays that are allocated once. Not re-entrant.
 */
export class VertexHeap {
  readonly #items: Uint32Array
  readonly #keys: Float64Array
  /** Position of a vertex in the heap plus one; zero when it is not in it. */
  readonly #position: Uint32Array
  #size = 0

  constructor(vertexCount: number) {
    this.#items = new Uint32Array(vertexCount + 1)
    this.#keys = new Float64Array(vertexCount + 1)
    this.#position = new Uint32Array(vertexCount)
  }

  get size(): number {
    return this.#size
  }

  /** The smallest key; infinite when the heap is empty. */
  get minKey(): number {
    return this.#size > 0 ? this.#keys[0]! : Infinity
  }

  /** Inserts a vertex, or lowers its key; a key that is not lower is ignored. */
  offer(vertex: number, key: number): void {
    const at = this.#position[vertex]!
    if (at === 0) {
      this.#rise(this.#size++, vertex, key)
    } else if (key < this.#keys[at - 1]!) {
      this.#rise(at - 1, vertex, key)
    }
  }

  /** Removes and returns the vertex with the smallest key. The heap must not be empty. */
  pop(): number {
    const top = this.#items[0]!
    this.#position[top] = 0
    this.#size--
    if (this.#size > 0) this.#sink(this.#items[this.#size]!, this.#keys[this.#size]!)
    return top
  }

  /** Empties the heap in time proportional to its size. */
  reset(): void {
    for (let i = 0; i < this.#size; i++) this.#position[this.#items[i]!] = 0
    this.#size = 0
  }

  #rise(from: number, vertex: number, key: number): void {
    const items = this.#items
    const keys = this.#keys
    const position = this.#position
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 2
      if (keys[parent]! <= key) break
      items[at] = items[parent]!
      keys[at] = keys[parent]!
      position[items[at]!] = at + 1
      at = parent
    }
    items[at] = vertex
    keys[at] = key
    position[vertex] = at + 1
  }

  #sink(vertex: number, key: number): void {
    const items = this.#items
    const keys = this.#keys
    const position = this.#position
    const size = this.#size
    let at = 0
    for (;;) {
      const first = 4 * at + 1
      if (first >= size) break
      let least = first
      const end = Math.min(first + 4, size)
      for (let child = first + 1; child < end; child++) if (keys[child]! < keys[least]!) least = child
      if (keys[least]! >= key) break
      items[at] = items[least]!
      keys[at] = keys[least]!
      position[items[at]!] = at + 1
      at = least
    }
    items[at] = vertex
    keys[at] = key
    position[vertex] = at + 1
  }
}
