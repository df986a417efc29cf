import type { Name } from '../graph/texts.ts'
import { Kind, type Maneuver } from '../guide/maneuver.ts'
import { hasGuide, type Signs, type SignText } from '../guide/signs.ts'
import type { ExitPhrase, ExitPhrases, KeepPhrase, Phrases, RampPhrases, SideWords, TurnPhrases } from './phrases.ts'

/** Use of a sentence: written, spoken at the maneuver, or spoken ahead of it. */
export interface Style {
  /** Maximum number of names of a street; zero for all. */
  readonly names: number
  /** Maximum number of texts of a sign. */
  readonly signs: number
  readonly delimiter: string
  readonly spoken: boolean
  /** Ahead of the maneuver, only the most important fact is spoken. */
  readonly ahead: boolean
}

/** Name and street of the destination of a leg, each null when unknown. */
export interface Destination {
  readonly name: string | null
  readonly street: string | null
}

/**
 * Cache of parsed phrases, as texts and placeholders alternately. Only phrases of the tables are added, so it stays
 * small.
 */
const takenApart = new Map<string, readonly string[]>()

/** Fills the placeholders of a phrase. */
export function fill(phrase: string, values: Readonly<Record<string, string>>): string {
  let known = takenApart.get(phrase)
  if (known === undefined) takenApart.set(phrase, (known = phrase.split(/\{(\w+)\}/)))
  let text = known[0]!
  for (let i = 1; i < known.length; i += 2) text += (values[known[i]!] ?? '') + known[i + 1]!
  return text
}

/** Joins names; an unnamed path gets the name of its kind. */
export function streetOf(phrases: Phrases, style: Style, maneuver: Maneuver): string {
  if (maneuver.names.length > 0) return join(maneuver.names, style.names, style.delimiter)
  if (!maneuver.unnamedTrail) return ''
  if (maneuver.travelMode === 'pedestrian' && maneuver.trail === 'walkway') {
    return maneuver.pedestrianCrossing ? phrases.unnamed.crosswalk : phrases.unnamed.walkway
  }
  return maneuver.travelMode === 'bicycle' && maneuver.trail === 'cycleway' ? phrases.unnamed.cycleway : ''
}

function join(names: readonly Name[], most: number, delimiter: string): string {
  return (most > 0 ? names.slice(0, most) : names).map(({ text }) => text).join(delimiter)
}

/** Joins the most repeated texts of a sign. */
function joinSigns(texts: readonly SignText[], most: number, delimiter: string): string {
  return join(
    texts.filter(({ count }) => count === texts[0]?.count),
    most,
    delimiter,
  )
}

function guideSign({ guideBranches, guideTowards }: Signs, { signs, delimiter }: Style): string {
  if (guideBranches.length === 0) return joinSigns(guideTowards, signs, delimiter)
  if (guideTowards.length === 0 || signs === 1) return joinSigns(guideBranches, signs, delimiter)
  const branches = joinSigns(guideBranches, Math.round(signs / 2), delimiter)
  return branches + delimiter + joinSigns(guideTowards, signs >> 1, delimiter)
}

/** The names at the beginning of a maneuver and those after it, when both are needed. */
function beginAndStreet(phrases: Phrases, style: Style, maneuver: Maneuver): { begin: string; street: string } {
  const begin = join(maneuver.beginNames, style.names, style.delimiter)
  if (maneuver.includesObvious && begin !== '') return { begin: '', street: begin }
  return { begin, street: streetOf(phrases, style, maneuver) }
}

/** A phrase onto a street, or onto a first and then a second street; spoken texts name only the first. */
function onto(
  style: Style,
  set: { readonly onto: string; readonly ontoThen: string; readonly plain: string },
  { begin, street }: { begin: string; street: string },
  more: Readonly<Record<string, string>>,
): string {
  if (begin === '' || street === '')
    return fill(begin + street === '' ? set.plain : set.onto, { ...more, street: begin + street })
  return style.spoken ? fill(set.onto, { ...more, street: begin }) : fill(set.ontoThen, { ...more, begin, street })
}

export function startSentence(phrases: Phrases, style: Style, maneuver: Maneuver): string {
  const { plain, on, onThen } = phrases.start[maneuver.travelMode]
  const names = beginAndStreet(phrases, style, maneuver)
  return onto(style, { plain, onto: on, ontoThen: onThen }, names, { cardinal: cardinalOf(phrases, maneuver) })
}

/** The departure without any names. */
export function plainStart(phrases: Phrases, maneuver: Maneuver): string {
  return fill(phrases.start[maneuver.travelMode].plain, { cardinal: cardinalOf(phrases, maneuver) })
}

/** Diagonal directions are a little narrower than the others. */
function cardinalOf({ cardinals }: Phrases, { beginHeading }: Maneuver): string {
  const bounds = [24, 67, 114, 157, 204, 247, 294, 337]
  const at = bounds.findIndex((bound) => beginHeading < bound)
  return cardinals[at < 0 ? 0 : at]!
}

export function destinationSentence(phrases: Phrases, style: Style, maneuver: Maneuver, place: Destination): string {
  const set = style.ahead ? phrases.destinationAhead : phrases.destination
  const destination = place.name ?? place.street ?? ''
  if (maneuver.kind === Kind.destination) return fill(destination === '' ? set.plain : set.at, { destination })
  const side = maneuver.kind === Kind.destinationLeft ? set.left : set.right
  return fill(destination === '' ? set.side : set.atSide, { destination, side })
}

export function continueSentence(phrases: Phrases, style: Style, maneuver: Maneuver): string {
  const { plain, on, toward } = phrases.continue
  if (hasGuide(maneuver.signs)) return fill(toward, { sign: guideSign(maneuver.signs, style) })
  const street = streetOf(phrases, style, maneuver)
  return street === '' ? plain : fill(on, { street })
}

const LEFT = new Set<number>([
  Kind.left,
  Kind.slightLeft,
  Kind.sharpLeft,
  Kind.uturnLeft,
  Kind.rampLeft,
  Kind.exitLeft,
  Kind.mergeLeft,
  Kind.stayLeft,
])

function sideOf({ left, right }: SideWords, { kind }: Maneuver): string {
  return LEFT.has(kind) ? left : right
}

function turnSet(phrases: Phrases, { kind }: Maneuver): TurnPhrases {
  if (kind === Kind.slightLeft || kind === Kind.slightRight) return phrases.bear
  return kind === Kind.sharpLeft || kind === Kind.sharpRight ? phrases.sharp : phrases.turn
}

export function turnSentence(phrases: Phrases, style: Style, maneuver: Maneuver): string {
  const set = turnSet(phrases, maneuver)
  const side = sideOf(set, maneuver)
  if (hasGuide(maneuver.signs)) return fill(set.toward, { side, sign: guideSign(maneuver.signs, style) })
  const names = beginAndStreet(phrases, style, maneuver)
  if (maneuver.toStayOn) return fill(set.stayOn, { side, street: names.street })
  return onto(style, set, names, { side })
}

/** A turn without any names. */
export function plainTurn(phrases: Phrases, style: Style, maneuver: Maneuver): string {
  const set = turnSet(phrases, maneuver)
  const side = sideOf(set, maneuver)
  return hasGuide(maneuver.signs)
    ? fill(set.toward, { side, sign: guideSign(maneuver.signs, style) })
    : fill(set.plain, { side })
}

export function uturnSentence({ uturn, ...phrases }: Phrases, style: Style, maneuver: Maneuver): string {
  const side = sideOf(uturn, maneuver)
  if (hasGuide(maneuver.signs)) return fill(uturn.toward, { side, sign: guideSign(maneuver.signs, style) })
  const street = streetOf({ uturn, ...phrases }, style, maneuver)
  const cross = join(maneuver.crossNames, style.names, style.delimiter)
  if (cross === '')
    return fill(maneuver.toStayOn ? uturn.stayOn : street === '' ? uturn.plain : uturn.onto, { side, street })
  if (style.ahead) return fill(uturn.at, { side, cross })
  const phrase = maneuver.toStayOn ? uturn.atStayOn : street === '' ? uturn.at : uturn.atOnto
  return fill(phrase, { side, street, cross })
}

export function plainUturn({ uturn }: Phrases, style: Style, maneuver: Maneuver): string {
  const side = sideOf(uturn, maneuver)
  return hasGuide(maneuver.signs)
    ? fill(uturn.toward, { side, sign: guideSign(maneuver.signs, style) })
    : fill(uturn.plain, { side })
}

export function rampSentence(phrases: Phrases, style: Style, maneuver: Maneuver): string {
  const { set, side } = rampSet(phrases, maneuver)
  const { exitBranches, exitTowards, exitNames } = maneuver.signs
  const branch = joinSigns(exitBranches, style.signs, style.delimiter)
  const sign = joinSigns(exitTowards, style.signs, style.delimiter)
  const name = joinSigns(exitNames, style.signs, style.delimiter)
  if (branch !== '' && (sign === '' || style.ahead)) return fill(set.branch, { side, branch })
  if (branch !== '') return fill(set.branchToward, { side, branch, sign })
  if (sign !== '') return fill(set.toward, { side, sign })
  return fill(name === '' ? set.plain : set.name, { side, name })
}

function rampSet(phrases: Phrases, maneuver: Maneuver): { set: RampPhrases; side: string } {
  const { kind, direction, driveOnRight } = maneuver
  if (kind === Kind.rampStraight) return { set: phrases.rampStraight, side: '' }
  if (direction === 'left' || direction === 'right')
    return { set: phrases.rampTurn, side: sideOf(phrases.rampTurn, maneuver) }
  if (direction === (driveOnRight ? 'keepRight' : 'keepLeft')) return { set: phrases.ramp, side: '' }
  return { set: phrases.rampSide, side: sideOf(phrases.rampSide, maneuver) }
}

export function exitSentence(phrases: Phrases, style: Style, maneuver: Maneuver): string {
  const usual = maneuver.kind === (maneuver.driveOnRight ? Kind.exitRight : Kind.exitLeft)
  const set: ExitPhrases = usual ? phrases.exit : phrases.exitSide
  const { exitNumbers, exitBranches, exitTowards, exitNames } = maneuver.signs
  const number = join(exitNumbers, 0, style.delimiter)
  const branch = joinSigns(exitBranches, style.signs, style.delimiter)
  const sign = joinSigns(exitTowards, style.signs, style.delimiter)
  const name = number === '' ? joinSigns(exitNames, style.signs, style.delimiter) : ''
  const parts = [number && 'number', name && 'name', branch && 'branch', sign && 'toward'].filter((part) => part !== '')
  const said = style.ahead ? mostImportant(parts) : parts
  return fill(set[phraseOf(said) as ExitPhrase], {
    side: sideOf(phrases.exitSide, maneuver),
    number,
    branch,
    sign,
    name,
  })
}

/** The part of a sign that is announced early; a name only if there is no other part. */
function mostImportant(parts: readonly string[]): string[] {
  const part = parts.find((candidate) => candidate !== 'name') ?? parts[0]
  return part === undefined ? [] : [part]
}

/** The key of a phrase: its parts joined, `plain` without any. */
function phraseOf(parts: readonly string[]): string {
  if (parts.length === 0) return 'plain'
  return parts.map((part, i) => (i === 0 ? part : part[0]!.toUpperCase() + part.slice(1))).join('')
}

export function keepSentence(phrases: Phrases, style: Style, maneuver: Maneuver): string {
  const { signs } = maneuver
  const list = (texts: readonly SignText[]): string => joinSigns(texts, style.signs, style.delimiter)
  const guided = hasGuide(signs)
  const branch = list(signs.exitBranches)
  const named =
    maneuver.ramp && branch !== ''
      ? branch
      : streetOf(phrases, { ...style, names: style.names || style.signs }, maneuver)
  const street = guided ? list(signs.guideBranches) : named === '' ? branch : named
  const sign = list(guided ? signs.guideTowards : signs.exitTowards)
  const number = join(signs.exitNumbers, 0, style.delimiter)
  const parts = [number && 'number', street && 'street', sign && 'toward'].filter((part) => part !== '')
  const said = style.ahead ? parts.slice(0, 1) : parts
  return fill(phrases.keep[phraseOf(said) as KeepPhrase], { side: keepSide(phrases, maneuver), number, street, sign })
}

function keepSide({ keep }: Phrases, { kind }: Maneuver): string {
  return kind === Kind.stayStraight ? keep.straight : kind === Kind.stayLeft ? keep.left : keep.right
}

export function keepToStaySentence(phrases: Phrases, style: Style, maneuver: Maneuver): string {
  const street = streetOf(phrases, { ...style, names: style.names || style.signs }, maneuver)
  const side = keepSide(phrases, maneuver)
  const { guideTowards, exitTowards, exitNumbers } = maneuver.signs
  const sign = joinSigns(guideTowards.length > 0 ? guideTowards : exitTowards, style.signs, style.delimiter)
  const number = join(exitNumbers, 0, style.delimiter)
  const parts = [number && 'number', sign && 'toward'].filter((part) => part !== '')
  const key = style.ahead ? 'plain' : phraseOf(parts)
  return fill(phrases.keepToStay[key as keyof Phrases['keepToStay']], { side, street, number, sign })
}

export function mergeSentence(phrases: Phrases, style: Style, maneuver: Maneuver, named: boolean): string {
  const { merge } = phrases
  const sided = maneuver.kind !== Kind.merge
  const side = sideOf(merge, maneuver)
  const street = named ? streetOf(phrases, style, maneuver) : ''
  if (street !== '') return fill(sided ? merge.sideOnto : merge.onto, { side, street })
  if (hasGuide(maneuver.signs)) {
    return fill(sided ? merge.sideToward : merge.toward, { side, sign: guideSign(maneuver.signs, style) })
  }
  return fill(sided ? merge.side : merge.plain, { side })
}

export function roundaboutSentence(phrases: Phrases, style: Style, maneuver: Maneuver, named: boolean): string {
  const circle = named ? join(maneuver.names, style.names, style.delimiter) : ''
  const set = circle === '' ? phrases.roundabout : phrases.namedRoundabout
  const ordinal = phrases.ordinals[maneuver.roundaboutExit - 1] ?? ''
  if (hasGuide(maneuver.exitSigns)) {
    const sign = guideSign(maneuver.exitSigns, style)
    return fill(ordinal === '' ? set.toward : set.exitToward, { circle, ordinal, sign })
  }
  const exit = maneuver.exitBeginNames.length > 0 ? maneuver.exitBeginNames : maneuver.exitNames
  const street = named ? join(exit, style.names, style.delimiter) : ''
  if (street !== '') return fill(ordinal === '' ? set.onto : set.exitOnto, { circle, ordinal, street })
  return fill(ordinal === '' ? set.plain : set.exit, { circle, ordinal })
}

export function leaveRoundaboutSentence(phrases: Phrases, style: Style, maneuver: Maneuver, named: boolean): string {
  const set = phrases.leaveRoundabout
  if (hasGuide(maneuver.signs)) return fill(set.toward, { sign: guideSign(maneuver.signs, style) })
  return named ? onto(style, set, beginAndStreet(phrases, style, maneuver), {}) : set.plain
}

export function ferrySentence(phrases: Phrases, style: Style, maneuver: Maneuver): string {
  const { ferry } = phrases
  if (hasGuide(maneuver.signs)) return fill(ferry.toward, { sign: guideSign(maneuver.signs, style) })
  const street = streetOf(phrases, style, maneuver)
  if (street === '') return ferry.plain
  return fill(ferry.label.test(street) ? ferry.named : ferry.labelled, { street })
}
