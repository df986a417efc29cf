import type { Counted, Phrases } from './phrases.ts'

/** Units of lengths in a response. */
export type Units = 'kilometers' | 'miles'

const METERS_PER_MILE = 1609.344
const FEET_PER_MILE = 5280

/** A length in spoken form; longer lengths are rounded more. Roundings are those of Valhalla 3.6. */
export function wordLength(phrases: Phrases, units: Units, meters: number): string {
  return units === 'miles' ? wordMiles(phrases, meters / METERS_PER_MILE) : wordMeters(phrases, meters)
}

function wordMeters(phrases: Phrases, exact: number): string {
  const { lengths } = phrases
  const meters = Math.round(exact)
  if (meters > 949) {
    const kilometers = exact > 3000 ? Math.round(exact / 1000) : Math.round(exact / 500) / 2
    return kilometers === 1 ? lengths.kilometer : count(phrases, lengths.kilometers, kilometers)
  }
  if (meters > 94) return count(phrases, lengths.meters, Math.round(meters / 100) * 100)
  return meters > 9 ? count(phrases, lengths.meters, Math.round(meters / 10) * 10) : lengths.fewMeters
}

function wordMiles(phrases: Phrases, exact: number): string {
  const { lengths } = phrases
  const feet = Math.round(exact * FEET_PER_MILE)
  if (feet > 1000) {
    const miles = exact > 2 ? Math.round(exact) : exact >= 0.625 ? Math.round(exact * 2) / 2 : Math.round(exact * 4) / 4
    if (miles === 0.25) return lengths.quarterMile
    if (miles === 0.5) return lengths.halfMile
    return miles === 1 ? lengths.mile : count(phrases, lengths.miles, miles)
  }
  if (feet > 94) return count(phrases, lengths.feet, Math.round(feet / 100) * 100)
  return feet > 9 ? count(phrases, lengths.feet, Math.round(feet / 10) * 10) : lengths.fewFeet
}

const rules = new Map<string, Intl.PluralRules>()

function count({ tag, decimal }: Phrases, counted: Counted, n: number): string {
  const text = String(n).replace('.', decimal)
  if (typeof counted === 'string') return counted.replace('{n}', text)
  let rule = rules.get(tag)
  if (rule === undefined) rules.set(tag, (rule = new Intl.PluralRules(tag)))
  return (counted[rule.select(n)] ?? counted.other).replace('{n}', text)
}
