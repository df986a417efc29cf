import type { Graph } from '../graph/graph.ts'
import type { TextReader } from '../graph/texts.ts'
import type { Step } from '../guide/steps.ts'

/** A country; all texts are empty at sea. */
export interface Country {
  /** ISO 3166-1 codes of two and of three letters. */
  readonly alpha2: string
  readonly alpha3: string
  /** In English. */
  readonly name: string
}

/** Number of texts of a country in `countryText`. */
const COUNTRY_TEXTS = 3

const SEA: Country = { alpha2: '', alpha3: '', name: '' }

/** The countries of streets in the order of their first use. */
export class CountryList {
  readonly countries: Country[] = []
  readonly #numbers: number[] = []
  readonly #graph: Graph
  readonly #texts: TextReader

  constructor(graph: Graph, texts: TextReader) {
    this.#graph = graph
    this.#texts = texts
  }

  /** Whether the graph was built with countries. */
  get isKnown(): boolean {
    return this.#graph.countryText.length > 0
  }

  indexOf(edge: number): number {
    const { shapeCountry, edgeShape } = this.#graph
    const number = shapeCountry[edgeShape[edge]!]!
    const at = this.#numbers.indexOf(number)
    if (at >= 0) return at
    this.countries.push(number === 0 ? SEA : this.#read(number))
    return this.#numbers.push(number) - 1
  }

  #read(number: number): Country {
    const [alpha2, alpha3, name] = [0, 1, 2].map((i) =>
      this.#texts.text(this.#graph.countryText[COUNTRY_TEXTS * (number - 1) + i]!),
    )
    return { alpha2: alpha2!, alpha3: alpha3!, name: name! }
  }
}

/** The countries of a leg, and the index in them for each node of the leg: that of the street after it. */
export interface LegCountries extends Pick<CountryList, 'countries'> {
  readonly ofNode: readonly number[]
}

/** The countries of a leg; null when the graph was built without countries. */
export function countriesOf(graph: Graph, texts: TextReader, steps: readonly Step[]): LegCountries | null {
  const list = new CountryList(graph, texts)
  if (!list.isKnown) return null
  const ofNode = steps.map(({ edge }) => list.indexOf(edge))
  return { countries: list.countries, ofNode: [...ofNode, ofNode.at(-1)!] }
}

/** Countries in the form of Valhalla's answers; the graph has no states. */
export function adminsOf({ countries }: Pick<CountryList, 'countries'>): Readonly<Record<string, string>>[] {
  return countries.map(({ alpha2, name }) => ({
    country_code: alpha2,
    country_text: name,
    state_code: '',
    state_text: '',
  }))
}

/** Countries in the form of Valhalla's answers with `format=osrm`. */
export function osrmAdminsOf({ countries }: LegCountries): object[] {
  return countries.map(({ alpha2, alpha3 }) => (alpha2 === '' ? {} : { iso_3166_1: alpha2, iso_3166_1_alpha3: alpha3 }))
}

/** The edges of a leg that cross a border, with the indexes of both countries. */
export function crossingsOf({ ofNode }: LegCountries, steps: readonly Step[]): object[] {
  return steps.flatMap(({ beginShape, endShape }, i) =>
    ofNode[i] === ofNode[i + 1]
      ? []
      : [
          {
            from_admin_index: ofNode[i],
            to_admin_index: ofNode[i + 1],
            begin_shape_index: beginShape,
            end_shape_index: endShape,
          },
        ],
  )
}
