/**
 * An undirected graph for flows from sources to sinks; an edge has capacity 1 in either direction. It is refilled for
 * each use, and its memory is reused.
 */
export class FlowGraph {
  count = 0
  #tail = new Uint32Array(0)
  #head = new Uint32Array(0)
  #edges = 0
  /** Arcs of node `i`: `#first[i] … #first[i + 1]`, each with its reverse. */
  #first = new Uint32Array(1)
  #arcHead = new Uint32Array(0)
  #reverse = new Uint32Array(0)
  /** Residual capacity of each arc: 0 to 2, because a flow on its reverse can be taken back. */
  #room = new Uint8Array(0)
  #level = new Int32Array(0)
  #pointer = new Uint32Array(0)
  #queue = new Uint32Array(0)
  /** Role of a node: 1 a source, 2 a sink, 0 neither. */
  terminal = new Uint8Array(0)
  /** Side of each node: 1 for nodes that sources reach, or nodes that reach sinks. */
  side = new Uint8Array(0)

  /** Begins a graph of `count` nodes without terminals. */
  begin(count: number): void {
    this.count = count
    this.#edges = 0
    if (this.terminal.length < count) {
      const room = Math.ceil(count * 1.2)
      this.terminal = new Uint8Array(room)
      this.side = new Uint8Array(room)
      this.#first = new Uint32Array(room + 1)
      this.#level = new Int32Array(room)
      this.#pointer = new Uint32Array(room)
      this.#queue = new Uint32Array(room)
    }
    this.terminal.fill(0, 0, count)
  }

  add(tail: number, head: number): void {
    const edge = this.#edges++
    if (edge === this.#tail.length) this.#growEdges()
    this.#tail[edge] = tail
    this.#head[edge] = head
  }

  /** Ends the graph: it has all of its edges. */
  finish(): void {
    const [first, edges] = [this.#first, this.#edges]
    if (this.#arcHead.length < 2 * edges) {
      const room = Math.ceil(2.4 * edges)
      this.#arcHead = new Uint32Array(room)
      this.#reverse = new Uint32Array(room)
      this.#room = new Uint8Array(room)
    }
    first.fill(0, 0, this.count + 1)
    for (let edge = 0; edge < edges; edge++) {
      first[this.#tail[edge]!]!++
      first[this.#head[edge]!]!++
    }
    let end = 0
    for (let node = 0; node <= this.count; node++) {
      end += node < this.count ? first[node]! : 0
      first[node] = end
    }
    // Filled from their ends, which leaves the offsets at the beginnings.
    for (let edge = edges - 1; edge >= 0; edge--) {
      const there = --first[this.#tail[edge]!]!
      const back = --first[this.#head[edge]!]!
      this.#arcHead[there] = this.#head[edge]!
      this.#arcHead[back] = this.#tail[edge]!
      this.#reverse[there] = back
      this.#reverse[back] = there
    }
  }

  /**
   * A maximum flow from sources to sinks (Dinic, "Algorithm for solution of a problem of maximum flow in networks with
   * power estimation", 1970); stops as soon as it reaches `limit`.
   */
  maximumFlow(limit: number): number {
    this.#room.fill(1, 0, 2 * this.#edges)
    let flow = 0
    while (this.#layer()) {
      this.#pointer.set(this.#first.subarray(0, this.count))
      for (let node = 0; node < this.count; node++) {
        if (this.#level[node] !== 0) continue
        while (this.#augment(node)) if (++flow >= limit) return flow
      }
    }
    return flow
  }

  /** Marks, after a maximum flow, the nodes that sources reach over residual arcs, or the nodes that reach sinks. */
  markSide(fromSource: boolean): void {
    const [first, side, queue] = [this.#first, this.side, this.#queue]
    const seed = fromSource ? 1 : 2
    let tail = 0
    for (let node = 0; node < this.count; node++) {
      side[node] = this.terminal[node] === seed ? 1 : 0
      if (side[node] === 1) queue[tail++] = node
    }
    for (let front = 0; front < tail; front++) {
      const node = queue[front]!
      for (let arc = first[node]!; arc < first[node + 1]!; arc++) {
        const other = this.#arcHead[arc]!
        if (side[other] === 1 || this.#room[fromSource ? arc : this.#reverse[arc]!] === 0) continue
        side[other] = 1
        queue[tail++] = other
      }
    }
  }

  /** Breadth-first layers from the sources along arcs with room; whether a sink was reached. */
  #layer(): boolean {
    const [first, level, terminal, queue] = [this.#first, this.#level, this.terminal, this.#queue]
    let tail = 0
    for (let node = 0; node < this.count; node++) {
      level[node] = -1
      if (terminal[node] !== 1) continue
      level[node] = 0
      queue[tail++] = node
    }
    let sinkLevel = -1
    for (let front = 0; front < tail; front++) {
      const node = queue[front]!
      const next = level[node]! + 1
      if (next - 1 === sinkLevel) break
      for (let arc = first[node]!; arc < first[node + 1]!; arc++) {
        const other = this.#arcHead[arc]!
        if (level[other] !== -1 || this.#room[arc] === 0) continue
        level[other] = next
        queue[tail++] = other
        if (terminal[other] === 2) sinkLevel = next
      }
    }
    return sinkLevel >= 0
  }

  /**
   * Pushes a unit from a source to a sink along the layers, if possible; depth-first, with the queue as its stack of
   * nodes.
   */
  #augment(source: number): boolean {
    const [first, level, pointer, path] = [this.#first, this.#level, this.#pointer, this.#queue]
    let depth = 0
    path[0] = source
    while (depth >= 0) {
      const node = path[depth]!
      if (this.terminal[node] === 2) {
        for (let i = 0; i < depth; i++) {
          const along = pointer[path[i]!]!
          this.#room[along]!--
          this.#room[this.#reverse[along]!]!++
        }
        return true
      }
      const end = first[node + 1]!
      let arc = pointer[node]!
      while (arc < end && (this.#room[arc] === 0 || level[this.#arcHead[arc]!] !== level[node]! + 1)) arc++
      pointer[node] = arc
      if (arc < end) path[++depth] = this.#arcHead[arc]!
      else if (--depth >= 0) pointer[path[depth]!]!++
    }
    return false
  }

  #growEdges(): void {
    const room = Math.max(64, this.#tail.length * 2)
    const [tail, head] = [this.#tail, this.#head]
    this.#tail = new Uint32Array(room)
    this.#head = new Uint32Array(room)
    this.#tail.set(tail)
    this.#head.set(head)
  }
}
