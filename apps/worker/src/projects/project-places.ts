import type { TerraneError } from '@terrane/core'

export interface PlacesOptions {
  /** Most at once of all projects, and of one: none keeps the others out. */
  readonly all: number
  readonly ofOne: number
  /** The refusal; `of` says whose limit it is, as the end of a sentence. */
  readonly busy: (fields: { limit: number; of: string }) => TerraneError
}

/** Bounds what a worker does at once while callers wait. */
export class ProjectPlaces {
  readonly #options: PlacesOptions
  readonly #taken: string[] = []

  constructor(options: PlacesOptions) {
    this.#options = options
  }

  /**
   * Takes a place until it is disposed of.
   *
   * @param project different for each project
   * @throws the refusal
   */
  take(project: string): Disposable {
    const { all, ofOne, busy } = this.#options
    if (this.#taken.filter((other) => other === project).length >= ofOne)
      throw busy({ limit: ofOne, of: ' of one project' })
    if (this.#taken.length >= all) throw busy({ limit: all, of: '' })
    this.#taken.push(project)
    return { [Symbol.dispose]: () => void this.#taken.splice(this.#taken.indexOf(project), 1) }
  }
}
