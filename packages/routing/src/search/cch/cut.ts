import type { FlowGraph } from './flow.ts'

/** Minimum share of the places on each side of a cut. */
const TERMINAL_SHARE = 0.25

/** The sparsest cut between weighted places of a graph that flows in four directions find. */
export class Cut {
  /** The side of each place: 1 for the first half. */
  side = new Uint8Array(0)
  #count = 0
  #x = new Float64Array(0)
  #y = new Float64Array(0)
  #weight = new Uint32Array(0)
  #key = new Float32Array(0)
  #places = new Uint32Array(0)

  begin(count: number): void {
    this.#count = count
    if (this.side.length < count) {
      const room = Math.ceil(count * 1.2)
      this.side = new Uint8Array(room)
      this.#x = new Float64Array(room)
      this.#y = new Float64Array(room)
      this.#weight = new Uint32Array(room)
      this.#key = new Float32Array(room)
      this.#places = new Uint32Array(room)
    }
    this.#x.fill(0, 0, count)
    this.#y.fill(0, 0, count)
    this.#weight.fill(0, 0, count)
  }

  add(place: number, x: number, y: number): void {
    this.#x[place]! += x
    this.#y[place]! += y
    this.#weight[place]!++
  }

  find(graph: FlowGraph): void {
    const [count, weight, places] = [this.#count, this.#weight, this.#places]
    let total = 0
    for (let i = 0; i < count; i++) {
      places[i] = i
      total += weight[i]!
    }
    const terminals = Math.max(1, Math.floor(count * TERMINAL_SHARE))
    let bestScore = Infinity
    for (let direction = 0; direction < 4; direction++) {
      this.#project(direction)
      selectLowest(places, this.#key, 0, count, terminals)
      selectLowest(places, this.#key, terminals, count, count - terminals)
      for (let i = 0; i < count; i++) graph.terminal[places[i]!] = i < terminals ? 1 : i >= count - terminals ? 2 : 0
      const limit = Math.ceil(bestScore * (total / 2))
      const flow = graph.maximumFlow(limit)
      if (flow >= limit) continue
      for (const fromSource of [true, false]) {
        graph.markSide(fromSource)
        let reached = 0
        for (let i = 0; i < count; i++) if (graph.side[i] === 1) reached += weight[i]!
        const score = flow / Math.min(reached, total - reached)
        if (score >= bestScore && bestScore < Infinity) continue
        bestScore = score
        for (let i = 0; i < count; i++) this.side[i] = (graph.side[i] === 1) === fromSource ? 1 : 0
      }
    }
  }

  #project(direction: number): void {
    for (let i = 0; i < this.#count; i++) {
      const x = this.#x[i]! / this.#weight[i]!
      const y = this.#y[i]! / this.#weight[i]!
      this.#key[i] = direction === 0 ? x : direction === 1 ? y : direction === 2 ? x + y : x - y
    }
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
