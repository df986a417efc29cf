/** An undirected street network: nodes with planar coordinates, links between them. */
export interface LinkNetwork {
  readonly nodeCount: number
  readonly x: Float32Array
  readonly y: Float32Array
  readonly linkTail: Uint32Array
  readonly linkHead: Uint32Array
}

/** Each side of a cut gets at least this share of the nodes. */
const TERMINAL_SHARE = 0.25
/** Parts up to this size are cut by a sweep; a flow would cost more than it saves. */
const SWEEP_SIZE = 24

/**
 * Ranks links by nested dissection: the network is cut in two by few links, those get the highest ranks, and both
 * halves are cut again until nothing is left. Cuts are found by inertial flow (Schild and Sommer, "On Balanced
 * Separators in Road Networks", 2015): in four directions, the outermost quarters of the nodes are the terminals of a
 * maximum flow with unit capacities.
 *
 * @returns the rank of every link, a permutation of 0 … links − 1; a link that joins a node to itself ranks lowest.
 */
export function nestedDissection(network: LinkNetwork): Uint32Array {
  const { nodeCount, linkTail } = network
  const rank = new Uint32Array(linkTail.length)
  const cutter = new Cutter(network)
  const stack: [number, number][] = [[0, nodeCount]]
  let next = linkTail.length
  while (stack.length > 0) {
    const [begin, end] = stack.pop()!
    if (end - begin < 2) continue
    const middle = cutter.split(begin, end)
    for (const link of cutter.cutLinks) rank[link] = --next
    stack.push([middle, end], [begin, middle])
  }
  for (let link = 0; link < linkTail.length; link++) {
    if (network.linkTail[link] === network.linkHead[link]) rank[link] = --next
  }
  return rank
}

/** Splits ranges of a node permutation. All scratch is allocated once. */
class Cutter {
  /** Links that the last split cut. */
  readonly cutLinks: number[] = []

  readonly #x: Float32Array
  readonly #y: Float32Array
  readonly #firstLink: Uint32Array
  readonly #link: Uint32Array
  readonly #other: Uint32Array
  /** Nodes, permuted so that every part is a contiguous range. */
  readonly #nodes: Uint32Array
  /** The part a node belongs to; parts are numbered as they are split. */
  readonly #part: Uint32Array
  #partCount = 0
  readonly #key: Float32Array
  readonly #terminal: Uint8Array
  /** Flow on each link from its tail to its head: −1, 0 or 1. */
  readonly #flow: Int8Array
  readonly #tailOf: Uint32Array
  readonly #level: Int32Array
  readonly #pointer: Uint32Array
  readonly #queue: Uint32Array
  readonly #side: Uint8Array
  readonly #bestSide: Uint8Array

  constructor(network: LinkNetwork) {
    const { nodeCount, linkTail, linkHead } = network
    this.#x = network.x
    this.#y = network.y
    this.#tailOf = linkTail
    this.#firstLink = new Uint32Array(nodeCount + 1)
    const isLoop = (link: number): boolean => linkTail[link] === linkHead[link]
    for (let link = 0; link < linkTail.length; link++) {
      if (isLoop(link)) continue
      this.#firstLink[linkTail[link]! + 1]!++
      this.#firstLink[linkHead[link]! + 1]!++
    }
    for (let node = 0; node < nodeCount; node++) this.#firstLink[node + 1]! += this.#firstLink[node]!
    const next = this.#firstLink.slice()
    this.#link = new Uint32Array(this.#firstLink[nodeCount]!)
    this.#other = new Uint32Array(this.#firstLink[nodeCount]!)
    const attach = (node: number, other: number, link: number): void => {
      const at = next[node]!++
      this.#link[at] = link
      this.#other[at] = other
    }
    for (let link = 0; link < linkTail.length; link++) {
      if (isLoop(link)) continue
      attach(linkTail[link]!, linkHead[link]!, link)
      attach(linkHead[link]!, linkTail[link]!, link)
    }
    this.#nodes = Uint32Array.from({ length: nodeCount }, (_, node) => node)
    this.#part = new Uint32Array(nodeCount)
    this.#key = new Float32Array(nodeCount)
    this.#terminal = new Uint8Array(nodeCount)
    this.#flow = new Int8Array(linkTail.length)
    this.#level = new Int32Array(nodeCount)
    this.#pointer = new Uint32Array(nodeCount)
    this.#queue = new Uint32Array(nodeCount)
    this.#side = new Uint8Array(nodeCount)
    this.#bestSide = new Uint8Array(nodeCount)
  }

  /** Splits the nodes of a range in two, collects the cut links and returns where the second half begins. */
  split(begin: number, end: number): number {
    const part = ++this.#partCount
    for (let i = begin; i < end; i++) this.#part[this.#nodes[i]!] = part
    if (end - begin <= SWEEP_SIZE) this.#sweep(begin, end, part)
    else this.#inertialFlow(begin, end, part)
    return this.#divide(begin, end, part)
  }

  /** Orders the nodes along the longer side of their box and takes the sparsest of the cuts between neighbours. */
  #sweep(begin: number, end: number, part: number): void {
    const nodes = this.#nodes.subarray(begin, end)
    const spread = (values: Float32Array): number => {
      let least = Infinity
      let most = -Infinity
      for (const node of nodes) {
        least = Math.min(least, values[node]!)
        most = Math.max(most, values[node]!)
      }
      return most - least
    }
    const along = spread(this.#x) >= spread(this.#y) ? this.#x : this.#y
    nodes.sort((a, b) => along[a]! - along[b]! || a - b)
    for (const node of nodes) this.#side[node] = 0
    let crossing = 0
    let best = 1
    let bestScore = Infinity
    for (let i = 0; i + 1 < nodes.length; i++) {
      const node = nodes[i]!
      for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]!; at++) {
        if (this.#part[this.#other[at]!] === part) crossing += this.#side[this.#other[at]!] === 1 ? -1 : 1
      }
      this.#side[node] = 1
      const score = crossing / Math.min(i + 1, nodes.length - i - 1)
      if (score < bestScore) {
        bestScore = score
        best = i + 1
      }
    }
    for (let i = 0; i < nodes.length; i++) this.#bestSide[nodes[i]!] = i < best ? 1 : 0
  }

  /** Tries four directions and keeps the sparsest cut in `#bestSide`. */
  #inertialFlow(begin: number, end: number, part: number): void {
    const count = end - begin
    const terminals = Math.max(1, Math.floor(count * TERMINAL_SHARE))
    let bestScore = Infinity
    for (let direction = 0; direction < 4; direction++) {
      this.#project(begin, end, direction)
      selectLowest(this.#nodes, this.#key, begin, end, begin + terminals)
      selectLowest(this.#nodes, this.#key, begin + terminals, end, end - terminals)
      for (let i = begin; i < end; i++) {
        const node = this.#nodes[i]!
        this.#terminal[node] = i < begin + terminals ? 1 : i >= end - terminals ? 2 : 0
        for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]!; at++) this.#flow[this.#link[at]!] = 0
      }
      const limit = Math.ceil(bestScore * (count / 2))
      const flow = this.#maximumFlow(begin, end, part, limit)
      if (flow >= limit) continue
      for (const fromSource of [true, false]) {
        const reached = this.#residualSide(begin, end, part, fromSource)
        const score = flow / Math.min(reached, count - reached)
        if (score >= bestScore && bestScore < Infinity) continue
        bestScore = score
        for (let i = begin; i < end; i++) {
          const node = this.#nodes[i]!
          this.#bestSide[node] = (this.#side[node] === 1) === fromSource ? 1 : 0
        }
      }
    }
  }

  #project(begin: number, end: number, direction: number): void {
    for (let i = begin; i < end; i++) {
      const node = this.#nodes[i]!
      const x = this.#x[node]!
      const y = this.#y[node]!
      this.#key[node] = direction === 0 ? x : direction === 1 ? y : direction === 2 ? x + y : x - y
    }
  }

  /** Dinic's algorithm; gives up as soon as the flow is `limit` or more. */
  #maximumFlow(begin: number, end: number, part: number, limit: number): number {
    let flow = 0
    while (this.#layer(begin, end, part)) {
      for (let i = begin; i < end; i++) this.#pointer[this.#nodes[i]!] = this.#firstLink[this.#nodes[i]!]!
      for (let i = begin; i < end; i++) {
        const node = this.#nodes[i]!
        if (this.#level[node] !== 0) continue
        while (this.#augment(node, part)) {
          flow++
          if (flow >= limit) return flow
        }
      }
    }
    return flow
  }

  /** Breadth-first layers from the sources along residual links; whether a sink was reached. */
  #layer(begin: number, end: number, part: number): boolean {
    let tail = 0
    for (let i = begin; i < end; i++) {
      const node = this.#nodes[i]!
      this.#level[node] = -1
      if (this.#terminal[node] === 1 && this.#hasInnerNeighbour(node, part)) {
        this.#level[node] = 0
        this.#queue[tail++] = node
      }
    }
    let sinkLevel = -1
    for (let front = 0; front < tail; front++) {
      const node = this.#queue[front]!
      const level = this.#level[node]!
      if (level === sinkLevel) break
      for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]!; at++) {
        const other = this.#other[at]!
        if (this.#part[other] !== part || this.#level[other] !== -1 || this.#terminal[other] === 1) continue
        if (!this.#residual(node, this.#link[at]!)) continue
        this.#level[other] = level + 1
        this.#queue[tail++] = other
        if (this.#terminal[other] === 2) sinkLevel = level + 1
      }
    }
    return sinkLevel >= 0
  }

  #hasInnerNeighbour(node: number, part: number): boolean {
    for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]!; at++) {
      const other = this.#other[at]!
      if (this.#part[other] === part && this.#terminal[other] !== 1) return true
    }
    return false
  }

  #residual(from: number, link: number): boolean {
    return this.#tailOf[link] === from ? this.#flow[link]! < 1 : this.#flow[link]! > -1
  }

  /** Pushes one unit from a source to a sink along the layers. Depth-first, with the queue as its stack. */
  #augment(source: number, part: number): boolean {
    const path = this.#queue
    let depth = 0
    path[0] = source
    while (depth >= 0) {
      const node = path[depth]!
      if (this.#terminal[node] === 2) {
        for (let i = 0; i < depth; i++) {
          const link = this.#link[this.#pointer[path[i]!]!]!
          this.#flow[link]! += this.#tailOf[link] === path[i] ? 1 : -1
        }
        return true
      }
      let advanced = false
      for (; this.#pointer[node]! < this.#firstLink[node + 1]!; this.#pointer[node]!++) {
        const at = this.#pointer[node]!
        const other = this.#other[at]!
        if (this.#part[other] !== part || this.#level[other] !== this.#level[node]! + 1) continue
        if (!this.#residual(node, this.#link[at]!)) continue
        path[++depth] = other
        advanced = true
        break
      }
      if (!advanced) {
        depth--
        if (depth >= 0) this.#pointer[path[depth]!]!++
      }
    }
    return false
  }

  /** Marks what the sources reach (or what reaches the sinks) along residual links, and counts it. */
  #residualSide(begin: number, end: number, part: number, fromSource: boolean): number {
    const seed = fromSource ? 1 : 2
    let tail = 0
    for (let i = begin; i < end; i++) {
      const node = this.#nodes[i]!
      this.#side[node] = this.#terminal[node] === seed ? 1 : 0
      if (this.#side[node] === 1) this.#queue[tail++] = node
    }
    for (let front = 0; front < tail; front++) {
      const node = this.#queue[front]!
      for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]!; at++) {
        const other = this.#other[at]!
        if (this.#part[other] !== part || this.#side[other] === 1) continue
        if (!this.#residual(fromSource ? node : other, this.#link[at]!)) continue
        this.#side[other] = 1
        this.#queue[tail++] = other
      }
    }
    return tail
  }

  /** Moves the nodes of side 1 to the front of the range. */
  #divide(begin: number, end: number, part: number): number {
    const nodes = this.#nodes
    let middle = begin
    for (let i = begin; i < end; i++) {
      const node = nodes[i]!
      if (this.#bestSide[node] === 0) continue
      nodes[i] = nodes[middle]!
      nodes[middle++] = node
    }
    this.cutLinks.length = 0
    for (let i = begin; i < middle; i++) {
      const node = nodes[i]!
      for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]!; at++) {
        const other = this.#other[at]!
        if (this.#part[other] === part && this.#bestSide[other] === 0) this.cutLinks.push(this.#link[at]!)
      }
    }
    return middle
  }
}

/** Permutes `items[begin … end)` so that the entries before `middle` have the lowest keys (quickselect). */
function selectLowest(items: Uint32Array, key: Float32Array, begin: number, end: number, middle: number): void {
  let left = begin
  let right = end - 1
  while (left < right) {
    const pivot = key[items[(left + right) >> 1]!]!
    let i = left
    let j = right
    while (i <= j) {
      while (key[items[i]!]! < pivot) i++
      while (key[items[j]!]! > pivot) j--
      if (i > j) break
      const swap = items[i]!
      items[i++] = items[j]!
      items[j--] = swap
    }
    if (middle <= j) right = j
    else if (middle >= i) left = i
    else return
  }
}
