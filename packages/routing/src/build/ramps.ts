import { bearingDegrees } from '../geometry/geodesy.ts'
import { Access, RoadClass } from '../graph/attributes.ts'
import { carLeaves, type Junctions, type LinkTable } from './links.ts'
import type { NodeIndex } from './node-index.ts'
import type { WayFacts } from './tags/way.ts'
import type { Ways } from './ways.ts'

/** Facts of ramps that follow from the roads they join. */
export interface RampFacts {
  /** Road class of each link: the class of its way; a ramp has at most the class of the road it leads to. */
  readonly roadClass: Uint8Array
  /** 1 for ramps that are turn lanes of an ordinary crossing, else 0. */
  readonly turnChannel: Uint8Array
}

/** A network that ramps are followed through. */
export interface RampNetwork {
  readonly ways: Ways
  readonly links: LinkTable
  readonly junctions: Junctions
  readonly nodes: NodeIndex
}

/** Ramps shorter than this are turn channels if the other criteria match. Longer ones must cut a corner. */
const CHANNEL_METERS = 200
const NO_CLASS = 255

/**
 * Follows ramps from ordinary roads, best roads first, and gives every chain of ramps the class of the lesser of the
 * two roads that it joins. Rules after Valhalla 3.6 `mjolnir/linkclassification.cc`.
 */
export function classifyRamps(network: RampNetwork): RampFacts {
  const classifier = new RampClassifier(network)
  for (let roadClass = 0; roadClass <= RoadClass.service; roadClass++) {
    for (const junction of classifier.exits(roadClass)) classifier.classifyFrom(junction, roadClass)
  }
  return classifier
}

/** A junction on a chain of ramps, with the ramps that lead to and from it. */
interface RampNode {
  readonly junction: number
  roadClass: number
  readonly parents: { node: number; link: number }[]
  readonly children: number[]
  childrenDone: number
}

class RampClassifier implements RampFacts {
  readonly roadClass: Uint8Array
  readonly turnChannel: Uint8Array
  readonly #network: RampNetwork
  readonly #done: Uint8Array
  #exits: readonly number[] | null = null

  constructor(network: RampNetwork) {
    this.#network = network
    const { ways, links } = network
    this.roadClass = Uint8Array.from(links.way, (way) => ways.facts(way).roadClass)
    this.turnChannel = new Uint8Array(links.count)
    this.#done = new Uint8Array(links.count)
  }

  /** Junctions where a ramp leaves roads of a class. */
  exits(roadClass: number): number[] {
    this.#exits ??= this.#findExits()
    return this.#exits.filter((junction) => this.#bestRoad(junction) === roadClass)
  }

  /** Junctions where ramps leave roads. */
  #findExits(): number[] {
    const { first, link, tail, count } = this.#network.junctions
    const { links } = this.#network
    const isRamp = Uint8Array.from(links.way, (way) => Number(this.#network.ways.facts(way).link))
    const found: number[] = []
    for (let j = 0; j < count; j++) {
      let leaving = false
      let joined = false
      for (let i = first[j]!; i < first[j + 1]!; i++) {
        const at = link[i]!
        if (isRamp[at] === 1) leaving ||= carLeaves(this.#way(at), tail[at] === j)
        else joined ||= this.#carries(at)
      }
      if (leaving && joined) found.push(j)
    }
    return found
  }

  classifyFrom(junction: number, roadClass: number): void {
    const graph = this.#follow(junction, roadClass)
    const leaves: number[] = []
    graph.forEach((node, i) => {
      if (node.children.length === 0) leaves.push(i)
    })
    for (let next = 0; next < leaves.length; next++) {
      const leaf = leaves[next]!
      for (const parent of graph[leaf]!.parents) this.#classifyChain(graph, leaf, parent, roadClass, leaves)
    }
  }

  /** The ramps that leave a junction, as an acyclic graph. */
  #follow(start: number, roadClass: number): RampNode[] {
    const graph: RampNode[] = [{ junction: start, roadClass, parents: [], children: [], childrenDone: 0 }]
    const finished = new Map<number, number>()
    const open = new Set([start])
    let rootWay: WayFacts | null = null
    const enter = (link: number, from: number): void => {
      const end = this.#otherEnd(link, graph[from]!.junction)
      if (open.has(end)) return
      const known = finished.get(end)
      const at = known ?? graph.length
      if (known === undefined) {
        graph.push({ junction: end, roadClass: this.#bestRoad(end), parents: [], children: [], childrenDone: 0 })
      }
      graph[from]!.children.push(at)
      graph[at]!.parents.push({ node: from, link })
      if (known === undefined && !this.#stopsAt(end, link, rootWay)) expand(at)
    }
    const expand = (at: number): void => {
      const { junction } = graph[at]!
      open.add(junction)
      for (const link of this.#linksAt(junction)) {
        if (!this.#isRamp(link) || !this.#leaves(junction, link)) continue
        if (this.#done[link] === 1) graph[at]!.roadClass = Math.min(graph[at]!.roadClass, this.roadClass[link]!)
        else enter(link, at)
      }
      open.delete(junction)
      finished.set(junction, at)
    }
    for (const link of this.#linksAt(start)) {
      if (!this.#isRamp(link) || !this.#leaves(start, link) || this.#done[link] === 1) continue
      // References are common only on the ramps of major roads.
      rootWay = this.roadClass[link]! <= RoadClass.trunk ? this.#way(link) : null
      enter(link, 0)
    }
    return graph
  }

  /** Whether a chain of ramps ends at a junction: at a road, unless the signs of the ramp point beyond it. */
  #stopsAt(junction: number, link: number, root: WayFacts | null): boolean {
    const best = this.#bestRoad(junction)
    if (best > RoadClass.residential) return false
    const ramp = refsOf(this.#way(link))
    const origin = root === null ? null : refsOf(root)
    if (origin === null || ramp.own.length + ramp.destinations.length === 0) return true
    const reached = this.#linksAt(junction).some((road) => {
      if (this.#isRamp(road) || !this.#carries(road)) return false
      const { own } = refsOf(this.#way(road))
      return sameRoad(own, origin.own) || (own[0] !== undefined && matchesAny(own[0], origin.destinations))
    })
    if (reached) return true
    return !this.#linksAt(junction).some((next) => {
      if (!this.#isRamp(next) || !this.#leaves(junction, next)) return false
      const onward = refsOf(this.#way(next))
      const sameRefs = sameRoad(onward.own, ramp.own) && sameRoad(ramp.own, origin.own)
      return (
        sameRefs ||
        onward.destinations.some((ref) => matchesAny(ref, ramp.destinations) && matchesAny(ref, origin.destinations))
      )
    })
  }

  #classifyChain(
    graph: RampNode[],
    leaf: number,
    first: { node: number; link: number },
    exitClass: number,
    leaves: number[],
  ): void {
    const chain: number[] = []
    let fork = false
    let signed = this.#isSigned(graph[leaf]!.junction)
    let at = leaf
    let step: { node: number; link: number } | undefined = first
    while (step !== undefined) {
      chain.push(step.link)
      const parent: RampNode = graph[step.node]!
      parent.childrenDone++
      fork ||= this.#linksAt(parent.junction).filter((link) => this.#isRamp(link)).length > 2
      signed ||= this.#isSigned(parent.junction)
      at = step.node
      if (parent.roadClass !== NO_CLASS || parent.children.length > 1 || parent.parents.length !== 1) {
        parent.roadClass = Math.min(parent.roadClass, graph[leaf]!.roadClass)
        if (parent.childrenDone === parent.children.length) leaves.push(at)
        break
      }
      step = parent.parents[0]
    }
    const leafClass = graph[leaf]!.roadClass === NO_CLASS ? graph[at]!.roadClass : graph[leaf]!.roadClass
    if (leafClass === NO_CLASS) return
    const roadClass = Math.max(exitClass, leafClass)
    const joinsRoads = [leaf, at].every((node) =>
      this.#linksAt(graph[node]!.junction).some((link) => !this.#isRamp(link)),
    )
    const channel = roadClass > RoadClass.trunk && !fork && !signed && joinsRoads && this.#isTurnChannel(chain)
    for (const link of chain) {
      if (roadClass > this.roadClass[link]!) {
        this.roadClass[link] = roadClass < RoadClass.unclassified ? roadClass : RoadClass.tertiary
      }
      if (channel) this.turnChannel[link] = 1
      this.#done[link] = 1
    }
  }

  /** @param chain ramps from the last to the first */
  #isTurnChannel(chain: readonly number[]): boolean {
    const twoWay = chain.some((link) => carLeaves(this.#way(link), true) && carLeaves(this.#way(link), false))
    if (twoWay) return false
    const meters = chain.reduce((sum, link) => sum + this.#network.links.meters[link]!, 0)
    return meters < CHANNEL_METERS || this.#cutsCorner(chain, meters)
  }

  /** Whether the roads at both ends of the chain meet within twice its length, so that it cuts a corner. */
  #cutsCorner(chain: readonly number[], meters: number): boolean {
    const { junctions } = this.#network
    const begin = this.#startOf(chain.at(-1)!)
    const last = chain[0]!
    const end = carLeaves(this.#way(last), true) ? junctions.head[last]! : junctions.tail[last]!
    const fork = this.#straightest(begin, chain.at(-1)!, true)
    const merge = this.#straightest(end, last, false)
    if (fork < 0 || merge < 0) return false
    const ahead = new Set(this.#walk(begin, fork, true, 2 * meters))
    return this.#walk(end, merge, false, 2 * meters).some((junction) => ahead.has(junction))
  }

  #startOf(link: number): number {
    const { tail, head } = this.#network.junctions
    return carLeaves(this.#way(link), true) ? tail[link]! : head[link]!
  }

  /** The road at a junction whose heading differs least from that of a ramp; −1 when there is none. */
  #straightest(junction: number, ramp: number, forward: boolean): number {
    const heading = this.#heading(junction, ramp)
    let best = -1
    let least = 360
    for (const link of this.#linksAt(junction)) {
      if (this.#isRamp(link) || !this.#passable(junction, link, forward)) continue
      const difference = Math.abs(heading - this.#heading(junction, link))
      const turn = Math.min(difference, 360 - difference)
      if (turn < least) {
        least = turn
        best = link
      }
    }
    return best
  }

  /** Junctions along a road, up to a length, following its name where it forks. */
  #walk(start: number, first: number, forward: boolean, limit: number): number[] {
    let link = first
    let at = this.#otherEnd(link, start)
    const path = [start, at]
    let meters = this.#network.links.meters[link]!
    while (meters < limit) {
      const next = this.#linksAt(at).filter(
        (other) =>
          !this.#isRamp(other) && this.#passable(at, other, forward) && !path.includes(this.#otherEnd(other, at)),
      )
      const onward = next.length === 1 ? next[0] : next.find((other) => this.#sameStreet(link, other))
      if (onward === undefined) break
      link = onward
      at = this.#otherEnd(link, at)
      path.push(at)
      meters += this.#network.links.meters[link]!
    }
    return path
  }

  #sameStreet(a: number, b: number): boolean {
    if (this.#network.links.way[a] === this.#network.links.way[b]) return true
    const names = this.#way(a).names.forward
    const others = this.#way(b).names.forward
    return [true, false].some((number) => {
      const name = names.find((n) => n.routeNumber === number)?.text
      return name !== undefined && name === others.find((n) => n.routeNumber === number)?.text
    })
  }

  #heading(junction: number, link: number): number {
    const { links, nodes, junctions } = this.#network
    const begin = links.firstPoint[link]!
    const end = links.firstPoint[link + 1]! - 1
    const [a, b] = junctions.tail[link] === junction ? [begin, begin + 1] : [end, end - 1]
    const from = links.points[a]!
    const to = links.points[b]!
    return bearingDegrees(nodes.lon[from]! / 1e7, nodes.lat[from]! / 1e7, nodes.lon[to]! / 1e7, nodes.lat[to]! / 1e7)
  }

  #linksAt(junction: number): number[] {
    const { first, link } = this.#network.junctions
    return Array.from(link.subarray(first[junction], first[junction + 1]))
  }

  #way(link: number): WayFacts {
    return this.#network.ways.facts(this.#network.links.way[link]!)
  }

  #isRamp(link: number): boolean {
    return this.#way(link).link
  }

  #carries(link: number): boolean {
    const { forward, backward } = this.#way(link).access
    return ((forward | backward) & Access.car) !== 0
  }

  #leaves(junction: number, link: number): boolean {
    return carLeaves(this.#way(link), this.#network.junctions.tail[link] === junction)
  }

  #passable(junction: number, link: number, forward: boolean): boolean {
    return carLeaves(this.#way(link), (this.#network.junctions.tail[link] === junction) === forward)
  }

  #otherEnd(link: number, junction: number): number {
    const { tail, head } = this.#network.junctions
    return tail[link] === junction ? head[link]! : tail[link]!
  }

  #bestRoad(junction: number): number {
    let best = NO_CLASS
    for (const link of this.#linksAt(junction)) {
      const roadClass = this.roadClass[link]!
      if (!this.#isRamp(link) && this.#carries(link) && roadClass !== RoadClass.service)
        best = Math.min(best, roadClass)
    }
    return best
  }

  #isSigned(junction: number): boolean {
    const facts = this.#network.nodes.facts(this.#network.junctions.node[junction]!)
    return facts.exitNumbers.length > 0 || facts.exitTo.length > 0
  }
}

interface RampRefs {
  readonly own: readonly string[]
  readonly destinations: readonly string[]
}

function refsOf(way: WayFacts): RampRefs {
  return { own: numbersOf(way.names.forward), destinations: numbersOf(way.names.signsForward.branch) }
}

function numbersOf(list: readonly { text: string; routeNumber: boolean }[]): string[] {
  return list.filter((name) => name.routeNumber).map((name) => name.text)
}

/** References match when one begins with the other: `A 5` and `A 5 (E 35)` are one road. */
function matches(a: string, b: string): boolean {
  return a !== '' && b !== '' && (a.startsWith(b) || b.startsWith(a))
}

function matchesAny(ref: string, list: readonly string[]): boolean {
  return list.some((other) => matches(ref, other))
}

function sameRoad(a: readonly string[], b: readonly string[]): boolean {
  return a[0] !== undefined && b[0] !== undefined && matches(a[0], b[0])
}
