import type { Phrases } from '../phrases.ts'
import bgBG from './bg-bg.json' with { type: 'json' }
import caES from './ca-es.json' with { type: 'json' }
import csCZ from './cs-cz.json' with { type: 'json' }
import daDK from './da-dk.json' with { type: 'json' }
import deDE from './de-de.json' with { type: 'json' }
import elGR from './el-gr.json' with { type: 'json' }
import enGB from './en-gb.json' with { type: 'json' }
import enUS from './en-us.json' with { type: 'json' }
import esES from './es-es.json' with { type: 'json' }
import etEE from './et-ee.json' with { type: 'json' }
import fiFI from './fi-fi.json' with { type: 'json' }
import frFR from './fr-fr.json' with { type: 'json' }
import glES from './gl-es.json' with { type: 'json' }
import hiIN from './hi-in.json' with { type: 'json' }
import hrHR from './hr-hr.json' with { type: 'json' }
import huHU from './hu-hu.json' with { type: 'json' }
import itIT from './it-it.json' with { type: 'json' }
import jaJP from './ja-jp.json' with { type: 'json' }
import koKR from './ko-kr.json' with { type: 'json' }
import ltLT from './lt-lt.json' with { type: 'json' }
import lvLV from './lv-lv.json' with { type: 'json' }
import nbNO from './nb-no.json' with { type: 'json' }
import nlNL from './nl-nl.json' with { type: 'json' }
import plPL from './pl-pl.json' with { type: 'json' }
import ptBR from './pt-br.json' with { type: 'json' }
import ptPT from './pt-pt.json' with { type: 'json' }
import roRO from './ro-ro.json' with { type: 'json' }
import ruRU from './ru-ru.json' with { type: 'json' }
import skSK from './sk-sk.json' with { type: 'json' }
import slSI from './sl-si.json' with { type: 'json' }
import svSE from './sv-se.json' with { type: 'json' }
import trTR from './tr-tr.json' with { type: 'json' }
import ukUA from './uk-ua.json' with { type: 'json' }
import zhCN from './zh-cn.json' with { type: 'json' }

/** A language as stored in its file: `ferry.label` as the source of a regular expression, and examples. */
interface LanguageFile extends Omit<Phrases, 'ferry'> {
  readonly ferry: Readonly<Record<'plain' | 'named' | 'labelled' | 'toward' | 'label', string>>
  /** For translators: how its sentences are worded. */
  readonly about: string
  /** Checked by `languages.test.ts`, which names the maneuvers. */
  readonly examples: Readonly<Record<string, string>>
}

/** The files of the languages; to add one, copy `en-us.json`, translate it, and list it here. */
export const LANGUAGE_FILES = [
  enUS,
  enGB,
  deDE,
  frFR,
  esES,
  itIT,
  nlNL,
  ptBR,
  plPL,
  csCZ,
  bgBG,
  caES,
  daDK,
  elGR,
  etEE,
  fiFI,
  glES,
  hiIN,
  hrHR,
  huHU,
  jaJP,
  koKR,
  ltLT,
  lvLV,
  nbNO,
  ptPT,
  roRO,
  ruRU,
  skSK,
  slSI,
  svSE,
  trTR,
  ukUA,
  zhCN,
] as readonly LanguageFile[]

/** The languages that narration speaks; the first of a kind also answers to its short tag. */
export const LANGUAGES: readonly Phrases[] = LANGUAGE_FILES.map(
  ({ ferry, about: _about, examples: _examples, ...rest }) => ({
    ...rest,
    ferry: { ...ferry, label: new RegExp(ferry.label, 'iu') },
  }),
)

const AMERICAN = LANGUAGES[0]!

/** Languages that are answered by another tag: Norwegian without its form, and Nynorsk, by Bokmål. */
const SAME_LANGUAGE: Readonly<Record<string, string>> = { no: 'nb', nn: 'nb' }

const byTag = new Map<string, Phrases>()
for (const phrases of LANGUAGES) {
  byTag.set(phrases.tag, phrases)
  const short = phrases.tag.slice(0, 2)
  if (!byTag.has(short)) byTag.set(short, phrases)
}

/**
 * The words of a language, and its tag as it was asked for. An unsupported region falls back to its language (`de-AT`
 * to `de-DE`, RFC 4647, Lookup), an unsupported language to American English.
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

/** Whether a language is spoken, in some region. */
export function isSpoken(asked: string): boolean {
  const language = asked.toLowerCase().split(/[-_]/)[0]!
  return byTag.has(SAME_LANGUAGE[language] ?? language)
}
