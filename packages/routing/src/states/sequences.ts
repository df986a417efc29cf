/** A sequence of edges that is forbidden to some modes, or is a U-turn inside a crossing. */
export interface Sequence {
  readonly edges: readonly number[]
  /** Modes that must not travel the whole sequence. */
  readonly modes: number
  readonly turnsAround: boolean
  /** Rule of the graph with the sizes of vehicles that it applies to; absent when it applies to all sizes. */
  readonly sizeRule?: number
}

/** Meaning of a step within or out of a sequence. */
export interface Step {
  /** State after the step; −1 for the plain state of the edge. */
  readonly state: number
  readonly modes: number
  readonly turnsAround: boolean
  /** Size rules that forbid the sequences completed by the step. */
  readonly sizeRules: readonly number[]
}

/**
 * An automaton that tracks, after each step, the longest end of the path that is a beginning of a sequence (Aho and
 * Corasick, 1975). A state represents at least two edges; an edge without such a history has no state.
 */
export class SequenceAutomaton {
  readonly edges: number[] = []
  readonly #states = new Map<string, number>()
  readonly #paths: (readonly number[])[] = []
  readonly #complete = new Map<string, Omit<Step, 'state'>>()

  constructor(sequences: readonly Sequence[]) {
    for (const { edges, modes, turnsAround, sizeRule } of sequences) {
      const key = edges.join(' ')
      const known = this.#complete.get(key)
      this.#complete.set(key, {
        modes: modes | (known?.modes ?? 0),
        turnsAround: turnsAround || (known?.turnsAround ?? false),
        sizeRules: [...(known?.sizeRules ?? []), ...(sizeRule === undefined ? [] : [sizeRule])],
      })
      for (let length = 2; length < edges.length; length++) this.#addState(edges.slice(0, length))
    }
  }

  begins(edge: number): boolean {
    return this.#first.has(edge)
  }

  /** @param from a state, or −1 with `edge` as the plain state */
  step(from: number, edge: number, next: number): Step {
    const path = [...(from < 0 ? [edge] : this.#paths[from]!), next]
    let state = -1
    let modes = 0
    let turnsAround = false
    const sizeRules: number[] = []
    for (let begin = 0; begin < path.length - 1; begin++) {
      const key = path.slice(begin).join(' ')
      if (state < 0) state = this.#states.get(key) ?? -1
      const done = this.#complete.get(key)
      if (done === undefined) continue
      modes |= done.modes
      turnsAround ||= done.turnsAround
      sizeRules.push(...done.sizeRules)
    }
    return { state, modes, turnsAround, sizeRules }
  }

  readonly #first = new Set<number>()

  #addState(path: readonly number[]): void {
    const key = path.join(' ')
    if (this.#states.has(key)) return
    this.#states.set(key, this.#paths.length)
    this.#paths.push(path)
    this.edges.push(path.at(-1)!)
    this.#first.add(path[0]!)
  }
}
