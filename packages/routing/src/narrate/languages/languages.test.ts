import { describe, expect, it } from 'vitest'

import { wordLength } from '../lengths.ts'
import type { Phrases } from '../phrases.ts'
import { examplesOf } from '../../../test/support/language-examples.ts'
import { isSpoken, LANGUAGE_FILES, languageOf, LANGUAGES } from './index.ts'

const enUS = LANGUAGES[0]!

/** All texts of a table by where they stand in it. */
function textsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value !== 'object' || value === null || value instanceof RegExp) return []
  return Object.entries(value).flatMap(([key, inner]) => textsOf(inner, path === '' ? key : `${path}.${key}`))
}

function placesIn(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).toSorted()
}

/** The sentences of a table: texts with placeholders other than a number, or with a full stop. */
function sentencesOf({
  lengths: _lengths,
  unnamed: _unnamed,
  cardinals: _cardinals,
  ordinals: _ordinals,
  ...rest
}: Phrases) {
  const words = /\.(left|right|straight)$|^(tag|decimal|approach)$/
  return textsOf(rest).filter(([path]) => !words.test(path))
}

it('speaks thirty languages at least, American English first, each once', () => {
  const tags = LANGUAGES.map(({ tag }) => tag)
  expect(tags.length).toBeGreaterThanOrEqual(30)
  expect([tags[0], new Set(tags).size]).toEqual(['en-US', tags.length])
})

it.each(LANGUAGE_FILES.map((file, i) => [file.tag, file, LANGUAGES[i]!] as const))(
  '%s says of the examples what its file shows',
  (_tag, { examples }, phrases) => expect(examplesOf(phrases)).toEqual(examples),
)

describe.each(LANGUAGES.map((phrases) => [phrases.tag, phrases] as const))('%s', (tag, phrases) => {
  it('has the places of the English phrase in every phrase', () => {
    const english = new Map(sentencesOf(enUS))
    for (const [path, text] of sentencesOf(phrases)) {
      expect({ path, places: placesIn(text) }).toEqual({ path, places: placesIn(english.get(path)!) })
    }
    expect(sentencesOf(phrases).length).toBe(english.size)
  })

  it('words whole sentences, that begin with a capital where there are capitals, and end with a full stop', () => {
    for (const [path, text] of sentencesOf(phrases)) {
      if (path.startsWith('followed.')) continue
      expect(text, path).toMatch(/^(\p{Lu}|\p{Lo}|\{)/u)
      // Valhalla's English text.
      if (path === 'namedRoundabout.plain' && tag.startsWith('en')) continue
      expect(text, path).toMatch(/[^\s.。।][.。।]$/)
    }
  })

  it('says how far a maneuver is, before a whole sentence', () => {
    expect(placesIn(phrases.approach)).toEqual(placesIn(enUS.approach))
    expect(phrases.approach).toMatch(/^(\p{Lu}.*|\p{Lo}.*)?\{length\}[^{}]*[,:、，] ?\{alert\}$/u)
  })

  it('has no stray spaces, braces or quotes', () => {
    for (const [path, text] of textsOf(phrases)) {
      expect(text, path).not.toMatch(/^\s|\s$| {2}|\s[.,]/)
      expect(text.replaceAll(/\{[a-z]+\}/g, ''), path).not.toMatch(/[{}"<>]/)
    }
  })

  it('has eight different cardinals and ten different ordinals', () => {
    expect(new Set(phrases.cardinals).size).toBe(8)
    expect(phrases.cardinals.length).toBe(8)
    expect(new Set(phrases.ordinals).size).toBe(10)
    expect(phrases.ordinals.length).toBe(10)
  })

  it('tells sides apart wherever it names them', () => {
    const sides = textsOf(phrases).filter(([path]) => path.endsWith('.left'))
    const texts = new Map(textsOf(phrases))
    expect(sides.length).toBeGreaterThan(8)
    for (const [path, left] of sides) expect(left, path).not.toBe(texts.get(path.replace(/left$/, 'right')))
  })

  it('answers to its tag and to the short one of its language', () => {
    expect(languageOf(tag)).toEqual({ phrases, tag })
    const short = tag.slice(0, 2)
    expect(languageOf(short).tag).toBe(short)
    expect(languageOf(short).phrases.tag.slice(0, 2)).toBe(short)
  })

  it('has a form for every number of every unit', () => {
    const texts = new Set<string>()
    for (let meters = 0; meters < 60_000; meters += 3) {
      for (const units of ['kilometers', 'miles'] as const) texts.add(wordLength(phrases, units, meters))
    }
    expect(texts.size).toBeGreaterThan(120)
    for (const text of texts) {
      expect(text).not.toMatch(/[{}]|undefined|NaN/)
      expect(text).not.toContain(phrases.decimal === ',' ? '.' : ',')
    }
  })
})

it('speaks American English where a language is not spoken, and says so', () => {
  for (const asked of ['tlh', 'tlh-DE', 'en-AU', '', '-', null])
    expect(languageOf(asked)).toEqual({ phrases: enUS, tag: 'en-US' })
})

it.each([
  ['de-AT', 'de-DE'],
  ['de-CH', 'de-DE'],
  ['fr-CA', 'fr-FR'],
  ['pt-AO', 'pt-BR'],
  ['no-NO', 'nb-NO'],
  ['es-419', 'es-ES'],
  ['DE', 'de-DE'],
  ['de_DE', 'de-DE'],
  ['en_gb', 'en-GB'],
  ['nl-BE', 'nl-NL'],
])('%s falls back to %s', (asked, spoken) => {
  const { phrases, tag } = languageOf(asked)
  expect([phrases.tag, tag, isSpoken(asked)]).toEqual([spoken, spoken, true])
  expect(isSpoken('tlh-DE')).toBe(false)
})

it.each([
  ['en-US', ['less than 10 meters', '100 meters', '1 kilometer', '1.5 kilometers', '2 kilometers', '5 kilometers']],
  ['en-GB', ['less than 10 metres', '100 metres', '1 kilometre', '1.5 kilometres', '2 kilometres', '5 kilometres']],
  ['de-DE', ['weniger als 10 Meter', '100 Meter', '1 Kilometer', '1,5 Kilometer', '2 Kilometer', '5 Kilometer']],
  ['fr-FR', ['moins de 10 mètres', '100 mètres', '1 kilomètre', '1,5 kilomètre', '2 kilomètres', '5 kilomètres']],
  ['es-ES', ['menos de 10 metros', '100 metros', '1 kilómetro', '1,5 kilómetros', '2 kilómetros', '5 kilómetros']],
  ['it-IT', ['meno di 10 metri', '100 metri', '1 chilometro', '1,5 chilometri', '2 chilometri', '5 chilometri']],
  ['nl-NL', ['minder dan 10 meter', '100 meter', '1 kilometer', '1,5 kilometer', '2 kilometer', '5 kilometer']],
  ['pt-BR', ['menos de 10 metros', '100 metros', '1 quilômetro', '1,5 quilômetro', '2 quilômetros', '5 quilômetros']],
  ['pl-PL', ['mniej niż 10 metrów', '100 metrów', '1 kilometr', '1,5 kilometra', '2 kilometry', '5 kilometrów']],
  ['cs-CZ', ['méně než 10 metrů', '100 metrů', '1 kilometr', '1,5 kilometru', '2 kilometry', '5 kilometrů']],
] as const)('%s counts metres and kilometres', (tag, want) => {
  const { phrases } = languageOf(tag)
  expect([3, 120, 1000, 1500, 2000, 5000].map((meters) => wordLength(phrases, 'kilometers', meters))).toEqual(want)
})

it.each([
  [
    'en-US',
    ['less than 10 feet', '300 feet', 'a quarter mile', 'a half mile', '1 mile', '1.5 miles', '3 miles', '22 miles'],
  ],
  [
    'de-DE',
    [
      'weniger als 10 Fuß',
      '300 Fuß',
      'eine Viertelmeile',
      'eine halbe Meile',
      '1 Meile',
      '1,5 Meilen',
      '3 Meilen',
      '22 Meilen',
    ],
  ],
  ['pl-PL', ['mniej niż 10 stóp', '300 stóp', 'ćwierć mili', 'pół mili', '1 milę', '1,5 mili', '3 mile', '22 mile']],
  ['cs-CZ', ['méně než 10 stop', '300 stop', 'čtvrt míle', 'půl míle', '1 míli', '1,5 míle', '3 míle', '22 mil']],
] as const)('%s counts feet and miles', (tag, want) => {
  const { phrases } = languageOf(tag)
  const mile = 1609.344
  const meters = [2, 91.44, mile / 4, mile / 2, mile, 1.5 * mile, 3 * mile, 22 * mile]
  expect(meters.map((length) => wordLength(phrases, 'miles', length))).toEqual(want)
})
