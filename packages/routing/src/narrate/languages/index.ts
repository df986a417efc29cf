import type { Phrases } from '../phrases.ts'
import { enGB } from './en-gb.ts'
import { enUS } from './en-us.ts'

/** The languages that narration speaks; the first of a kind also answers to its short tag. */
const LANGUAGES: readonly Phrases[] = [enUS, enGB]

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
