import type { LayerPlan, LayerSchema, LayerSource } from './feature-stream.ts'

/** Position of a layer: the index of its source, and its own index there. */
export interface LayerPlace {
  readonly set: number
  readonly layer: number
}

/** Layers of several sources, under numbers and names of their own. */
export class Joined implements LayerSource {
  readonly layers: readonly LayerSchema[]
  readonly #sources: readonly LayerSource[]
  readonly #places: readonly LayerPlace[]

  constructor(sources: readonly LayerSource[], places: readonly LayerPlace[], layers: readonly LayerSchema[]) {
    this.#sources = sources
    this.#places = places
    this.layers = layers
  }

  get warnings() {
    return this.#sources.flatMap((source, set) =>
      source.warnings.map((warning) => {
        const layer = source.layers.findIndex(({ name }) => name === warning.layer)
        const at = this.#places.findIndex((place) => place.set === set && (layer < 0 || place.layer === layer))
        return at < 0 ? warning : { ...warning, layer: this.layers[at]!.name }
      }),
    )
  }

  async *read(chosen: readonly number[]) {
    for (const { source, set, own } of this.#each(chosen)) {
      for await (const { layer, batch } of source.read(own.map((index) => this.#places[index]!.layer))) {
        yield { layer: this.#numberOf(set, layer), batch }
      }
    }
  }

  async *encode(plans: readonly LayerPlan[]) {
    for (const { source, set, own } of this.#each(plans.map(({ layer }) => layer))) {
      const ownPlans = plans.filter(({ layer }) => own.includes(layer))
      const moved = ownPlans.map(({ layer, plan }) => ({ layer: this.#places[layer]!.layer, plan }))
      for await (const rows of source.encode(moved)) yield { ...rows, layer: this.#numberOf(set, rows.layer) }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#sources.map((source) => source[Symbol.asyncDispose]()))
  }

  /** The sources that have some of the layers. */
  *#each(chosen: readonly number[]) {
    for (const [set, source] of this.#sources.entries()) {
      const own = chosen.filter((index) => this.#places[index]!.set === set)
      if (own.length > 0) yield { source, set, own }
    }
  }

  #numberOf(set: number, layer: number): number {
    return this.#places.findIndex((place) => place.set === set && place.layer === layer)
  }
}
