import { seededRandom } from '@terrane/core'

import type { Steps } from './steps.ts'

/** Number of neighbours of a stop that moves try to place next to it. */
const NEIGHBORS = 10
/** Maximum number of places between the cuts of a random change. */
const WINDOW = 50
/** Random changes per stop, maximum number of comparisons of all searches, and of a step. */
const CHANGES = 150
const MOST_LOOKS = 2.5e7
const LOOKS_PER_STEP = 3e5
/** Random changes per stop without an improvement after which the search ends. */
const PATIENCE = 60

/** An order of places that is improved move by move. */
export class OrderSearch {
  readonly #size: number
  readonly #cost: Float64Array
  readonly #random = seededRandom(1)
  readonly #order: Int32Array
  /** Position of each place in the order. */
  readonly #at: Int32Array
  /** Sums of the steps before each position, in forward and backward direction. */
  readonly #ahead: Float64Array
  readonly #back: Float64Array
  /** The cheapest successors and the cheapest predecessors of each place. */
  readonly #nextTo: Int32Array
  readonly #comeFrom: Int32Array
  readonly #neighbors: number
  /** Stack of places near a change; the last one is examined next. */
  #open: number[] = []
  readonly #isOpen: Uint8Array
  #sum = 0
  #looks = 0
  #stepEnd = 0

  constructor(steps: Steps) {
    const { size, cost } = steps
    this.#size = size
    this.#cost = cost
    this.#neighbors = Math.min(NEIGHBORS, size - 2)
    this.#nextTo = nearest(size, this.#neighbors, (from, to) => cost[from * size + to]!)
    this.#comeFrom = nearest(size, this.#neighbors, (to, from) => cost[from * size + to]!)
    this.#order = greedyOrder(steps)
    this.#at = new Int32Array(size)
    this.#ahead = new Float64Array(size)
    this.#back = new Float64Array(size)
    this.#isOpen = new Uint8Array(size)
    this.#note(0)
  }

  /** The best order found, in steps. */
  *run(): Generator<void, Int32Array> {
    for (let place = 0; place < this.#size; place++) this.#look(place)
    yield* this.#settle()
    let kept = this.#order.slice()
    let keptSum = this.#sum
    let [best, bestSum, bestAt] = [kept, keptSum, 0]
    const changes = CHANGES * this.#size
    for (let i = 0; i < changes && this.#looks < MOST_LOOKS; i++) {
      this.#shake()
      yield* this.#settle()
      // A slightly worse order is kept for a while, to leave local optima.
      const allowed = bestSum * (1 + 0.02 * this.#random() ** 3)
      if (this.#sum <= keptSum || this.#sum < allowed) {
        kept = this.#order.slice()
        keptSum = this.#sum
      } else this.#put(kept)
      if (keptSum < bestSum) [best, bestSum, bestAt] = [kept, keptSum, i]
      else if (i - bestAt > PATIENCE * this.#size) break
    }
    return best
  }

  /** Improves the order until no move at an open place makes it cheaper. */
  *#settle(): Generator<void> {
    for (let place = this.#open.pop(); place !== undefined; place = this.#open.pop()) {
      this.#isOpen[place] = 0
      while (this.#improve(place));
      if (this.#looks < this.#stepEnd) continue
      this.#stepEnd = this.#looks + LOOKS_PER_STEP
      yield
    }
  }

  #improve(place: number): boolean {
    return this.#goOnTo(place) || this.#comeFromOther(place)
  }

  #step(from: number, to: number): number {
    return this.#cost[from * this.#size + to]!
  }

  /** Tries moves after which a cheap successor follows a place. */
  #goOnTo(place: number): boolean {
    const order = this.#order
    const i = this.#at[place]!
    if (i === this.#size - 1) return false
    const now = this.#step(place, order[i + 1]!)
    for (let n = place * this.#neighbors; n < (place + 1) * this.#neighbors; n++) {
      const other = this.#nextTo[n]!
      if (this.#step(place, other) >= now) return false
      const j = this.#at[other]!
      if (this.#join(i, j)) return true
    }
    return false
  }

  /** Tries moves after which a cheap predecessor precedes a place. */
  #comeFromOther(place: number): boolean {
    const order = this.#order
    const j = this.#at[place]!
    if (j === 0) return false
    const now = this.#step(order[j - 1]!, place)
    for (let n = place * this.#neighbors; n < (place + 1) * this.#neighbors; n++) {
      const other = this.#comeFrom[n]!
      if (this.#step(other, place) >= now) return false
      const i = this.#at[other]!
      if (this.#join(i, j)) return true
    }
    return false
  }

  /** Makes position `i` lead to position `j` if that is cheaper. */
  #join(i: number, j: number): boolean {
    if (i > j) return this.#exchangeBefore(j, i)
    return this.#exchangeAfter(i, j) || this.#reverse(i + 1, j) || this.#reverse(i, j - 1)
  }

  /** Moves a run of places that begins at `j` before the places between `i` and `j`. */
  #exchangeAfter(i: number, j: number): boolean {
    const order = this.#order
    const first = order[i + 1]!
    const before = order[j - 1]!
    const open = this.#step(order[i]!, first) - this.#step(order[i]!, order[j]!) + this.#step(before, order[j]!)
    for (let k = j; k < this.#size - 1; k++) {
      const [last, after] = [order[k]!, order[k + 1]!]
      this.#looks++
      if (open + this.#step(last, after) > this.#step(last, first) + this.#step(before, after)) {
        return this.#exchange(i + 1, j, k + 1)
      }
    }
    return false
  }

  /** Moves a run of places that ends at `i` before the run that begins at `j`, so that `i` leads to `j`. */
  #exchangeBefore(j: number, i: number): boolean {
    if (j === 0 || i === this.#size - 1) return false
    const order = this.#order
    const before = order[j - 1]!
    const after = order[i + 1]!
    const open = this.#step(order[i]!, after) - this.#step(order[i]!, order[j]!) + this.#step(before, order[j]!)
    for (let t = j + 1; t <= i; t++) {
      const [last, first] = [order[t - 1]!, order[t]!]
      this.#looks++
      if (open + this.#step(last, first) > this.#step(before, first) + this.#step(last, after)) {
        return this.#exchange(j, t, i + 1)
      }
    }
    return false
  }

  /** Reverses the segment between two positions if that is cheaper. */
  #reverse(from: number, to: number): boolean {
    if (from < 1 || to > this.#size - 2 || from >= to) return false
    const order = this.#order
    const [before, first, last, after] = [order[from - 1]!, order[from]!, order[to]!, order[to + 1]!]
    this.#looks++
    const removed = this.#step(before, first) + this.#step(last, after) + this.#ahead[to]! - this.#ahead[from]!
    const added = this.#step(before, last) + this.#step(first, after) + this.#back[to]! - this.#back[from]!
    if (added >= removed) return false
    order.subarray(from, to + 1).reverse()
    this.#changed(from - 1, [before, first, last, after])
    return true
  }

  /** Exchanges the segments `[a, b)` and `[b, c)`. */
  #exchange(a: number, b: number, c: number): true {
    const order = this.#order
    const ends = [order[a - 1]!, order[a]!, order[b - 1]!, order[b]!, order[c - 1]!, order[c]!]
    this.#rotate(a, b, c)
    this.#changed(a - 1, ends)
    return true
  }

  #rotate(a: number, b: number, c: number): void {
    const first = this.#order.slice(a, b)
    this.#order.copyWithin(a, b, c)
    this.#order.set(first, a + c - b)
  }

  /** Exchanges two random segments close to each other. */
  #shake(): void {
    const inner = this.#size - 2
    const span = Math.min(WINDOW, inner)
    const begin = 1 + Math.floor(this.#random() * (inner - span + 1))
    const cuts = new Set<number>()
    while (cuts.size < 3) cuts.add(begin + Math.floor(this.#random() * (span + 1)))
    const [a, b, c] = [...cuts].toSorted((x, y) => x - y)
    this.#exchange(a!, b!, c!)
  }

  /** Records a change after a position, and marks the places to examine again. */
  #changed(from: number, places: readonly number[]): void {
    this.#note(from)
    for (const place of places) this.#look(place)
  }

  #look(place: number): void {
    if (this.#isOpen[place] === 1) return
    this.#isOpen[place] = 1
    this.#open.push(place)
  }

  /** Recomputes positions and sums from a position on. */
  #note(from: number): void {
    const order = this.#order
    for (let i = from; i < this.#size; i++) {
      this.#at[order[i]!] = i
      if (i === 0) continue
      this.#ahead[i] = this.#ahead[i - 1]! + this.#step(order[i - 1]!, order[i]!)
      this.#back[i] = this.#back[i - 1]! + this.#step(order[i]!, order[i - 1]!)
    }
    this.#sum = this.#ahead[this.#size - 1]!
  }

  #put(order: Int32Array): void {
    this.#order.set(order)
    this.#note(0)
  }
}

/** The `count` cheapest other places of each place, in ascending order of cost. */
function nearest(size: number, count: number, cost: (place: number, other: number) => number): Int32Array {
  const lists = new Int32Array(size * count)
  for (let place = 0; place < size; place++) {
    const others = Array.from({ length: size }, (_, i) => i).filter((i) => i !== place)
    others.sort((a, b) => cost(place, a) - cost(place, b) || a - b)
    lists.set(others.slice(0, count), place * count)
  }
  return lists
}

/** Order by always visiting the nearest remaining place. */
function greedyOrder({ size, cost }: Steps): Int32Array {
  const left = new Set(Array.from({ length: size - 2 }, (_, i) => i + 1))
  const order = new Int32Array(size)
  for (let i = 1; i < size - 1; i++) {
    let best = -1
    const row = order[i - 1]! * size
    for (const place of left) if (best < 0 || cost[row + place]! < cost[row + best]!) best = place
    order[i] = best
    left.delete(best)
  }
  order[size - 1] = size - 1
  return order
}
