import { Access } from '../graph/attributes.ts'
import { distanceMeters } from '../geometry/geodesy.ts'
import type { CollectedWay } from './collect.ts'
import type { NodeIndex } from './node-index.ts'

/**
 * The undirected network: ways cut into links where they meet, end, or something stands on them. Points of link `l` are
 * `points[firstPoint[l]] … points[firstPoint[l + 1] - 1]`, numbers of the node index; the first and last are junctions.
 */
export interface LinkTable {
  readonly count: number
  /** Position of the way in the list of collected ways. */
  readonly way: Uint32Array
  readonly firstPoint: Uint32Array
  readonly points: Uint32Array
  readonly meters: Float64Array
}

/** Cuts the ways into links. Ways with nodes that the files lack are cut there, too. */
export function cutIntoLinks(ways: readonly CollectedWay[], nodes: NodeIndex): LinkTable {
  const runs = ways.map((way) => resolve(way, nodes))
  const junction = findJunctions(runs, nodes)
  const table = { way: [] as number[], firstPoint: [0], points: [] as number[] }
  for (let w = 0; w < runs.length; w++) {
    for (const run of runs[w]!) {
      const loops = loopCuts(run)
      let begin = 0
      for (let i = 1; i < run.length; i++) {
        if (i < run.length - 1 && junction[run[i]!] === 0 && !loops.has(i)) continue
        for (let p = begin; p <= i; p++) table.points.push(run[p]!)
        table.firstPoint.push(table.points.length)
        table.way.push(w)
        begin = i
      }
    }
  }
  const links = {
    count: table.way.length,
    way: Uint32Array.from(table.way),
    firstPoint: Uint32Array.from(table.firstPoint),
    points: Uint32Array.from(table.points),
    meters: new Float64Array(table.way.length),
  }
  for (let link = 0; link < links.count; link++) links.meters[link] = lengthOf(links, link, nodes)
  return links
}

/** The stretches of a way whose nodes are all there, as node numbers; repeated neighbours are merged. */
function resolve(way: CollectedWay, nodes: NodeIndex): Uint32Array[] {
  const runs: Uint32Array[] = []
  let run: number[] = []
  const close = (): void => {
    if (run.length > 1) runs.push(Uint32Array.from(run))
    run = []
  }
  for (const ref of way.refs) {
    const node = nodes.find(ref)
    if (!nodes.has(node)) close()
    else if (run.at(-1) !== node) run.push(node)
  }
  close()
  return runs
}

/** Marks the nodes where links begin and end: ends of ways, nodes that are used twice, and barriers. */
function findJunctions(runs: readonly (readonly Uint32Array[])[], nodes: NodeIndex): Uint8Array {
  const uses = new Uint8Array(nodes.ids.length)
  for (const run of runs.flat()) for (const node of run) uses[node] = Math.min(2, uses[node]! + 1)
  const junction = uses.map((count, node) => (count === 2 || (count === 1 && nodes.facts(node).splits) ? 1 : 0))
  for (const run of runs.flat()) junction[run[0]!] = junction[run.at(-1)!] = 1
  return junction
}

/** Where a way meets itself, the loop is cut in its middle, so that no link begins where it ends. */
function loopCuts(run: Uint32Array): Set<number> {
  const cuts = new Set<number>()
  const seen = new Map<number, number>()
  for (let i = 0; i < run.length; i++) {
    const before = seen.get(run[i]!)
    if (before !== undefined) cuts.add((before + i) >> 1)
    seen.set(run[i]!, i)
  }
  return cuts
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
  /** Links at junction `j`: `link[first[j]] … link[first[j + 1] - 1]`; a link that closes on itself is there twice. */
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
export function modesOf(way: CollectedWay, forward: boolean): number {
  return forward ? way.facts.access.forward : way.facts.access.backward
}

/** Whether cars may leave a junction over a link. */
export function carLeaves(way: CollectedWay, forward: boolean): boolean {
  return (modesOf(way, forward) & Access.car) !== 0
}
