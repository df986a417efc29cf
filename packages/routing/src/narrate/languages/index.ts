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

/** The words of a language, and the tag it was asked for by; American English where it is not spoken. */
export function languageOf(asked: string | null): { phrases: Phrases; tag: string } {
  const phrases = byTag.get(asked ?? enUS.tag)
  return phrases === undefined ? { phrases: enUS, tag: enUS.tag } : { phrases, tag: asked ?? enUS.tag }
}
