import type { Phrases } from '../phrases.ts'
import { FILES } from './files.ts'

/** A language as stored in its file: `ferry.label` as the source of a regular expression, and examples. */
interface LanguageFile extends Omit<Phrases, 'ferry'> {
  readonly ferry: Readonly<Record<'plain' | 'named' | 'labelled' | 'toward' | 'label', string>>
  /** For translators: how its sentences are worded. */
  readonly about: string
  /** Checked by `languages.test.ts`, which names the maneuvers. */
  readonly examples: Readonly<Record<string, string>>
}

/** Languages that also match their short tag when files of several regions exist; the first is the fallback. */
const MAIN = ['en-US', 'pt-BR']

/** The files of the languages, the main ones first. */
export const LANGUAGE_FILES: readonly LanguageFile[] = (FILES as readonly LanguageFile[]).toSorted(
  (a, b) => rankOf(a) - rankOf(b) || (a.tag < b.tag ? -1 : 1),
)

/** The languages of narration; the first region of a language also matches its short tag. */
export const LANGUAGES: readonly Phrases[] = LANGUAGE_FILES.map(
  ({ ferry, about: _about, examples: _examples, ...rest }) => ({
    ...rest,
    ferry: { ...ferry, label: new RegExp(ferry.label, 'iu') },
  }),
)

const AMERICAN = LANGUAGES[0]!

/** Tags that another language serves: Norwegian without a form and Nynorsk use Bokmål. */
const SAME_LANGUAGE: Readonly<Record<string, string>> = { no: 'nb', nn: 'nb' }

const byTag = new Map<string, Phrases>()
for (const phrases of LANGUAGES) {
  byTag.set(phrases.tag, phrases)
  const short = phrases.tag.slice(0, 2)
  if (!byTag.has(short)) byTag.set(short, phrases)
}

/**
 * The phrases of a language, and its requested tag. An unsupported region falls back to its language (`de-AT` to
 * `de-DE`, RFC 4647, Lookup), an unsupported language to American English.
 */
export function languageOf(asked: string | null): { phrases: Phrases; tag: string } {
  if (asked === null) return { phrases: AMERICAN, tag: AMERICAN.tag }
  const known = byTag.get(asked)
  if (known !== undefined) return { phrases: known, tag: asked }
  const [written = '', region] = asked.toLowerCase().split(/[-_]/)
  const language = SAME_LANGUAGE[written] ?? written
  const whole = region === undefined ? language : `${language}-${region.toUpperCase()}`
  const phrases = byTag.get(whole) ?? byTag.get(language) ?? AMERICAN
  return { phrases, tag: phrases.tag }
}

function rankOf({ tag }: LanguageFile): number {
  return MAIN.includes(tag) ? MAIN.indexOf(tag) : MAIN.length
}

/** Whether a language is supported, in some region. */
export function isSpoken(asked: string): boolean {
  const language = asked.toLowerCase().split(/[-_]/)[0]!
  return byTag.has(SAME_LANGUAGE[language] ?? language)
}
