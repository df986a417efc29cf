import type { GraphArrays } from '../../graph/graph.ts'
import type { LinkTable } from '../links.ts'
import type { Ways } from '../ways.ts'
import type { Borders } from './borders.ts'

/** Streets, and their borders; without borders no street has a country. */
interface Streets {
  readonly ways: Ways
  readonly links: LinkTable
  readonly borders: Borders | null
}

/** The country of each geometry, and the texts of countries in the order of their first use. */
export function countryTable(
  { ways, links, borders }: Streets,
  textOf: (text: string) => number,
): Pick<GraphArrays, 'shapeCountry' | 'countryText'> {
  if (borders === null) return { shapeCountry: new Uint8Array(links.way.length), countryText: new Uint32Array() }
  const codes: string[] = []
  const shapeCountry = Uint8Array.from(links.way, (way) => {
    const { country } = ways.facts(way)
    if (country === null) return 0
    const at = codes.indexOf(country)
    return at < 0 ? codes.push(country) : at + 1
  })
  const texts = codes.flatMap((code) => {
    const { alpha3, name } = borders.describe(code)
    return [code, alpha3, name]
  })
  return { shapeCountry, countryText: Uint32Array.from(texts, textOf) }
}
