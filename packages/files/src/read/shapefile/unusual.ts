/** Thrown for an unusual part of a Shapefile: the engine then reads the file. */
export class UnusualFile extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`the Shapefile has ${what}`, options)
    this.name = 'UnusualFile'
  }
}
