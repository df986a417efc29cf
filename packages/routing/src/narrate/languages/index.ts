import type { Phrases } from '../phrases.ts'
import { csCZ } from './cs-cz.ts'
import { deDE } from './de-de.ts'
import { enGB } from './en-gb.ts'
import { enUS } from './en-us.ts'
import { esES } from './es-es.ts'
import { frFR } from './fr-fr.ts'
import { itIT } from './it-it.ts'
import { nlNL } from './nl-nl.ts'
import { plPL } from './pl-pl.ts'
import { ptBR } from './pt-br.ts'

/** The languages that narration speaks; the first of a kind also answers to its short tag. */
export const LANGUAGES: readonly Phrases[] = [enUS, enGB, deDE, frFR, esES, itIT, nlNL, ptBR, plPL, csCZ]

const byTag = new Map<string, Phrases>()
for (const phrases of LANGUAGES) {
  byTag.set(phrases.tag, phrases)
  const short = phrases.tag.slice(0, 2)
  if (!byTag.has(short)) byTag.set(short, phrases)
}

/**
 * The words of a language, and its tag as it was asked for. A region that is not spoken falls back to its language
 * (`de-AT` to `de-DE`, RFC 4647, Lookup), a language that is not spoken to American English.
 */
export function languageOf(asked: string | null): { phrases: Phrases; tag: string } {
  if (asked === null) return { phrases: enUS, tag: enUS.tag }
  const known = byTag.get(asked)
  if (known !== undefined) return { phrases: known, tag: asked }
  const [language = '', region] = asked.toLowerCase().split(/[-_]/)
  const whole = region === undefined ? language : `${language}-${region.toUpperCase()}`
  const phrases = byTag.get(whole) ?? byTag.get(language) ?? enUS
  return { phrases, tag: phrases.tag }
}

/** Whether a language is spoken, in some region. */
export function isSpoken(asked: string): boolean {
  return byTag.has(asked.toLowerCase().split(/[-_]/)[0]!)
}
