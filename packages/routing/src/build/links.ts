import { Access } from '../graph/attributes.ts'
import { distanceMeters } from '../geometry/geodesy.ts'
import { NumberList } from '../graph/lists.ts'
import type { NodeIndex } from './node-index.ts'
import type { WayFacts } from './tags/way.ts'
import type { WayNodes } from './ways.ts'

/**
 * The undirected network: ways are cut into links at their ends, at junctions and at nodes with barriers or signals.
 * Points of link `l` are `points[firstPoint[l]] … points[firstPoint[l + 1] - 1]`, numbers of the node index; the first
 * and last are junctions.
 */
export interface LinkTable {
  readonly count: number
  /** Position of the way in the list of ways. Links of a way follow each other. */
  readonly way: Uint32Array
  readonly firstPoint: Uint32Array
  readonly points: Uint32Array
  readonly meters: Float64Array
}

/** Cuts the ways into links. Ways are also cut at nodes that the files lack. */
export function cutIntoLinks(wayNodes: WayNodes, nodes: NodeIndex): LinkTable {
  const junction = findJunctions(wayNodes, nodes)
  const loops = new LoopCutter(nodes.ids.length)
  const way = new NumberList(new Uint32Array())
  const firstPoint = new NumberList(Uint32Array.of(0))
  const points = new NumberList(new Uint32Array())
  forEachRun(wayNodes, nodes, (run, w) => {
    const cuts = loops.cutsOf(run)
    let begin = 0
    for (let i = 1; i < run.length; i++) {
      if (i < run.length - 1 && junction[run[i]!] === 0 && !cuts.has(i)) continue
      points.append(run.subarray(begin, i + 1))
      firstPoint.push(points.length)
      way.push(w)
      begin = i
    }
  })
  const links = {
    count: way.length,
    way: way.take(),
    firstPoint: firstPoint.take(),
    points: points.take(),
  }
  const table = { ...links, meters: new Float64Array(links.count) }
  for (let link = 0; link < table.count; link++) table.meters[link] = lengthOf(table, link, nodes)
  return table
}

/** Visits the parts of ways whose nodes all exist; repeated neighbours are merged. A run is valid during its visit. */
function forEachRun(
  { first, node }: WayNodes,
  nodes: NodeIndex,
  visit: (run: Uint32Array<ArrayBuffer>, way: number) => void,
): void {
  let run = new Uint32Array(2048)
  let length = 0
  const close = (way: number): void => {
    if (length > 1) visit(run.subarray(0, length), way)
    length = 0
  }
  for (let way = 0; way + 1 < first.length; way++) {
    const count = first[way + 1]! - first[way]!
    if (count > run.length) run = new Uint32Array(2 * count)
    for (let i = first[way]!; i < first[way + 1]!; i++) {
      if (!nodes.has(node[i]!)) close(way)
      else if (length === 0 || run[length - 1] !== node[i]) run[length++] = node[i]!
    }
    close(way)
  }
}

/** Marks the nodes where links begin and end: ends of ways, nodes that are used twice, and barriers. */
function findJunctions(wayNodes: WayNodes, nodes: NodeIndex): Uint8Array {
  const uses = new Uint8Array(nodes.ids.length)
  forEachRun(wayNodes, nodes, (run) => {
    for (const node of run) uses[node] = Math.min(2, uses[node]! + 1)
  })
  const junction = uses.map((count, node) => (count === 2 || (count === 1 && nodes.facts(node).splits) ? 1 : 0))
  forEachRun(wayNodes, nodes, (run) => (junction[run[0]!] = junction[run.at(-1)!] = 1))
  return junction
}

const NO_CUTS: ReadonlySet<number> = new Set()

/** Cuts a loop of a way in the middle, so that no link begins and ends at the same node. */
class LoopCutter {
  /** The last run that contained a node, and the position in it. */
  readonly #run: Uint32Array
  readonly #at: Uint32Array
  #runs = 0

  constructor(nodeCount: number) {
    this.#run = new Uint32Array(nodeCount)
    this.#at = new Uint32Array(nodeCount)
  }

  cutsOf(run: Uint32Array): ReadonlySet<number> {
    const number = ++this.#runs
    let cuts: Set<number> | null = null
    for (let i = 0; i < run.length; i++) {
      const node = run[i]!
      if (this.#run[node] === number) (cuts ??= new Set()).add((this.#at[node]! + i) >> 1)
      this.#run[node] = number
      this.#at[node] = i
    }
    return cuts ?? NO_CUTS
  }
}

function lengthOf({ firstPoint, points }: LinkTable, link: number, { lon, lat }: NodeIndex): number {
  let meters = 0
  for (let i = firstPoint[link]! + 1; i < firstPoint[link + 1]!; i++) {
    const a = points[i - 1]!
    const b = points[i]!
    meters += distanceMeters(lon[a]! / 1e7, lat[a]! / 1e7, lon[b]! / 1e7, lat[b]! / 1e7)
  }
  return meters
}

/** Junctions and the links at each of them. Junctions are renumbered densely, in the order of the node index. */
export interface Junctions {
  readonly count: number
  /** Node-index number of each junction. */
  readonly node: Uint32Array
  /** Junctions at both ends of each link. */
  readonly tail: Uint32Array
  readonly head: Uint32Array
  /** Links at junction `j`: `link[first[j]] … link[first[j + 1] - 1]`; a loop is listed twice. */
  readonly first: Uint32Array
  readonly link: Uint32Array
}

export function findEnds(links: LinkTable, nodeCount: number): Junctions {
  const number = new Int32Array(nodeCount).fill(-1)
  const end = (link: number, last: boolean): number =>
    links.points[last ? links.firstPoint[link + 1]! - 1 : links.firstPoint[link]!]!
  for (let link = 0; link < links.count; link++) number[end(link, false)] = number[end(link, true)] = 0
  let count = 0
  for (let node = 0; node < nodeCount; node++) if (number[node] === 0) number[node] = count++
  const node = new Uint32Array(count)
  for (let n = 0; n < nodeCount; n++) if (number[n]! >= 0) node[number[n]!] = n
  const tail = Uint32Array.from({ length: links.count }, (_, link) => number[end(link, false)]!)
  const head = Uint32Array.from({ length: links.count }, (_, link) => number[end(link, true)]!)
  const first = new Uint32Array(count + 1)
  for (let link = 0; link < links.count; link++) {
    first[tail[link]! + 1]!++
    first[head[link]! + 1]!++
  }
  for (let j = 0; j < count; j++) first[j + 1]! += first[j]!
  const next = first.slice()
  const at = new Uint32Array(2 * links.count)
  for (let link = 0; link < links.count; link++) {
    at[next[tail[link]!]!++] = link
    at[next[head[link]!]!++] = link
  }
  return { count, node, tail, head, first, link: at }
}

/** The modes of a way in the direction of a link (`true` along its points) or against it. */
export function modesOf({ access }: WayFacts, forward: boolean): number {
  return forward ? access.forward : access.backward
}

/** Whether cars may leave a junction over a link. */
export function carLeaves(facts: WayFacts, forward: boolean): boolean {
  return (modesOf(facts, forward) & Access.car) !== 0
}
