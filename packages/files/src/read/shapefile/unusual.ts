/** Part of a Shapefile is unusual: the file is for the engine. */
export class UnusualFile extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`the Shapefile has ${what}`, options)
    this.name = 'UnusualFile'
  }
}
