import { Cut } from './cut.ts'
import { FlowGraph } from './flow.ts'

/** An undirected street network: nodes with planar coordinates, links between them. */
export interface LinkNetwork {
  readonly nodeCount: number
  readonly x: Float32Array
  readonly y: Float32Array
  readonly linkTail: Uint32Array
  readonly linkHead: Uint32Array
}

/** Maximum size of parts that are cut by a sweep, because a flow would cost more than it saves. */
const SWEEP_SIZE = 24
/** Minimum size of parts that are first cut between clusters of nodes. */
const FINE_SIZE = 1000
/** Maximum number of nodes of a cluster. */
const CLUSTER_SIZE = 24
/** Distance in links from a cut between clusters within which a better one is searched. */
const BAND = 12
/** Maximum size of the band as a share of the smaller half, so that the halves keep their sizes. */
const BAND_SHARE = 0.3
/** The place of an unassigned node. */
const NOWHERE = 2 ** 32 - 1

/**
 * Ranks links by nested dissection: the network is cut in two halves at few links, these links get the highest ranks,
 * and both halves are cut recursively. Cuts are found by inertial flow (Schild and Sommer, "On Balanced Separators in
 * Road Networks", 2015): in four directions, the outermost quarters of the nodes are the terminals of a maximum flow
 * with unit capacities. Large parts are cut at two levels, so that the cost grows with n log n: the flow runs between
 * clusters of neighbouring nodes first, then between nodes within a band around the cut that it found (as in Delling,
 * Goldberg, Razenshteyn and Werneck, "Graph Partitioning with Natural Cuts", 2011, and Sanders and Schulz, "Engineering
 * Multilevel Graph Partitioning Algorithms", 2011).
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

/** Splits ranges of a node permutation; reuses its buffers. */
class Cutter {
  /** Links across the last split. */
  readonly cutLinks: number[] = []

  readonly #x: Float32Array
  readonly #y: Float32Array
  readonly #firstLink: Uint32Array
  readonly #link: Uint32Array
  readonly #other: Uint32Array
  readonly #tailOf: Uint32Array
  /** Nodes, permuted so that every part is a contiguous range. */
  readonly #nodes: Uint32Array
  /** Part of each node; parts are numbered in the order of splits. */
  readonly #part: Uint32Array
  #partCount = 0
  /** Place of a node in the flow graph: its own, that of its cluster, or one in the band. */
  readonly #place: Uint32Array
  /** Half of a node of the last split part: 1 for the first. */
  readonly #side: Uint8Array
  readonly #graph = new FlowGraph()
  readonly #cut = new Cut()

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
    this.#place = new Uint32Array(nodeCount)
    this.#side = new Uint8Array(nodeCount)
  }

  /** Splits the nodes of a range in two, collects the cut links and returns the start of the second half. */
  split(begin: number, end: number): number {
    const part = ++this.#partCount
    for (let i = begin; i < end; i++) this.#part[this.#nodes[i]!] = part
    const size = end - begin
    if (size <= SWEEP_SIZE) this.#sweep(begin, end, part)
    else if (size <= FINE_SIZE) this.#cutPlaces(begin, end, part, this.#number(begin, end))
    else {
      this.#cutPlaces(begin, end, part, this.#cluster(begin, end, part))
      this.#refine(begin, end, part)
    }
    return this.#divide(begin, end, part)
  }

  /** Orders the nodes along the longer side of their box and uses the sparsest cut between neighbours. */
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
    for (let i = 0; i < nodes.length; i++) this.#side[nodes[i]!] = i < best ? 1 : 0
  }

  /** Cuts a part by a flow between the places of its nodes. */
  #cutPlaces(begin: number, end: number, part: number, places: number): void {
    const [nodes, place, cut] = [this.#nodes, this.#place, this.#cut]
    cut.begin(places)
    for (let i = begin; i < end; i++) cut.add(place[nodes[i]!]!, this.#x[nodes[i]!]!, this.#y[nodes[i]!]!)
    this.#graph.begin(places)
    for (let i = begin; i < end; i++) {
      const node = nodes[i]!
      for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]!; at++) {
        const other = this.#other[at]!
        if (this.#part[other] !== part || this.#tailOf[this.#link[at]!] !== node || place[other] === place[node])
          continue
        this.#graph.add(place[node]!, place[other]!)
      }
    }
    this.#graph.finish()
    cut.find(this.#graph)
    for (let i = begin; i < end; i++) this.#side[nodes[i]!] = cut.side[place[nodes[i]!]!]!
  }

  /** Assigns each node its own place. */
  #number(begin: number, end: number): number {
    for (let i = begin; i < end; i++) this.#place[this.#nodes[i]!] = i - begin
    return end - begin
  }

  /** Numbers clusters of connected nodes, and returns their count. */
  #cluster(begin: number, end: number, part: number): number {
    const place = this.#place
    const queue = new Uint32Array(CLUSTER_SIZE)
    for (let i = begin; i < end; i++) place[this.#nodes[i]!] = NOWHERE
    let clusters = 0
    for (let i = begin; i < end; i++) {
      const seed = this.#nodes[i]!
      if (place[seed] !== NOWHERE) continue
      let size = 1
      queue[0] = seed
      place[seed] = clusters
      for (let front = 0; front < size; front++) {
        const node = queue[front]!
        for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]! && size < CLUSTER_SIZE; at++) {
          const other = this.#other[at]!
          if (this.#part[other] !== part || place[other] !== NOWHERE) continue
          place[other] = clusters
          queue[size++] = other
        }
      }
      clusters++
    }
    return clusters
  }

  /** Searches for a better cut by a flow between the nodes in a band around the current one. */
  #refine(begin: number, end: number, part: number): void {
    const [nodes, place, side, graph] = [this.#nodes, this.#place, this.#side, this.#graph]
    // Nodes of the band, in the order of their distance; 0 and 1 represent all nodes beyond it on either side.
    const band: number[] = []
    const size = [0, 0]
    for (let i = begin; i < end; i++) {
      place[nodes[i]!] = NOWHERE
      size[side[nodes[i]!]!]!++
    }
    const take = (node: number): void => {
      if (place[node] !== NOWHERE) return
      place[node] = band.length + 2
      band.push(node)
    }
    let crossing = 0
    for (let i = begin; i < end; i++) {
      const node = nodes[i]!
      for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]!; at++) {
        const other = this.#other[at]!
        if (this.#part[other] !== part || side[other] === side[node]) continue
        crossing++
        take(node)
        take(other)
      }
    }
    crossing /= 2
    if (crossing === 0) return
    const most = Math.min(size[0]!, size[1]!) * BAND_SHARE
    for (let from = 0, distance = 1; distance < BAND && band.length < most; distance++) {
      const until = band.length
      for (; from < until; from++) {
        const node = band[from]!
        for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]!; at++) {
          if (this.#part[this.#other[at]!] === part) take(this.#other[at]!)
        }
      }
    }
    graph.begin(band.length + 2)
    graph.terminal[0] = 2
    graph.terminal[1] = 1
    for (const [i, node] of band.entries()) {
      for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]!; at++) {
        const other = this.#other[at]!
        if (this.#part[other] !== part) continue
        if (place[other] === NOWHERE) graph.add(i + 2, side[other]!)
        else if (this.#tailOf[this.#link[at]!] === node) graph.add(i + 2, place[other]!)
      }
    }
    graph.finish()
    const flow = graph.maximumFlow(crossing)
    if (flow >= crossing) return
    let bestScore = crossing / Math.min(size[0]!, size[1]!)
    const better = new Uint8Array(band.length)
    for (const fromSource of [true, false]) {
      graph.markSide(fromSource)
      let first = size[1]!
      for (const [i, node] of band.entries()) first += Number((graph.side[i + 2] === 1) === fromSource) - side[node]!
      const smaller = Math.min(first, end - begin - first)
      if (smaller === 0 || flow / smaller >= bestScore) continue
      bestScore = flow / smaller
      for (let i = 0; i < band.length; i++) better[i] = Number((graph.side[i + 2] === 1) === fromSource)
    }
    if (bestScore < crossing / Math.min(size[0]!, size[1]!))
      for (const [i, node] of band.entries()) side[node] = better[i]!
  }

  /** Moves the nodes of side 1 to the front of the range. */
  #divide(begin: number, end: number, part: number): number {
    const nodes = this.#nodes
    let middle = begin
    for (let i = begin; i < end; i++) {
      const node = nodes[i]!
      if (this.#side[node] === 0) continue
      nodes[i] = nodes[middle]!
      nodes[middle++] = node
    }
    this.cutLinks.length = 0
    for (let i = begin; i < middle; i++) {
      const node = nodes[i]!
      for (let at = this.#firstLink[node]!; at < this.#firstLink[node + 1]!; at++) {
        const other = this.#other[at]!
        if (this.#part[other] === part && this.#side[other] === 0) this.cutLinks.push(this.#link[at]!)
      }
    }
    return middle
  }
}
