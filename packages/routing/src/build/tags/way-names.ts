import { RoadClass } from '../../graph/attributes.ts'
import type { Tags } from './values.ts'

/** A name of a street; references such as `A 5` are route numbers. */
export interface StreetName {
  readonly text: string
  readonly routeNumber: boolean
}

/** Texts of signs at the way, before ramps are classified. */
export interface SignTexts {
  readonly exitNumber: readonly string[]
  readonly branch: readonly StreetName[]
  readonly toward: readonly StreetName[]
  readonly exitName: readonly string[]
}

export interface WayNames {
  readonly forward: readonly StreetName[]
  readonly backward: readonly StreetName[]
  readonly signsForward: SignTexts
  readonly signsBackward: SignTexts
}

/**
 * Names of a way in both directions. On motorways and trunk roads references come first, elsewhere names. A name that
 * repeats a reference is left out.
 */
export function wayNames(tags: Tags, roadClass: number): WayNames {
  const [forward, backward] = [directedNames(tags, roadClass, true), directedNames(tags, roadClass, false)]
  const same = forward.length === backward.length && forward.every((name, i) => name.text === backward[i]!.text)
  const signs = [signTexts(tags, 'forward'), signTexts(tags, 'backward')] as const
  return { forward, backward: same ? forward : backward, signsForward: signs[0], signsBackward: signs[1] }
}

function directedNames(tags: Tags, roadClass: number, forward: boolean): StreetName[] {
  const side = forward ? 'right' : 'left'
  const directed = (key: string): string | undefined =>
    tags.get(`${key}:${side}`) ?? tags.get(`${key}:${forward ? 'forward' : 'backward'}`) ?? tags.get(key)
  const refs = references(tags, directed('ref'))
  const known = new Set(refs)
  const names = parts(directed('name')).filter((name) => !known.has(name))
  const official = parts(directed('official_name')).filter((name) => !names.includes(name))
  const numbers = refs.map((text) => ({ text, routeNumber: true }))
  return roadClass <= RoadClass.trunk
    ? [...numbers, ...plainNames(names), ...plainNames(official)]
    : [...plainNames(names), ...numbers, ...plainNames(official)]
}

function plainNames(texts: readonly string[]): StreetName[] {
  return texts.map((text) => ({ text, routeNumber: false }))
}

const UNSIGNED_CLASSES = new Set(['motorway', 'trunk', 'primary'])
const NAMES = ['name', 'name:en', 'alt_name', 'official_name', 'ref', 'int_ref']

function references(tags: Tags, ref: string | undefined): string[] {
  const refs = parts(ref)
  for (const international of parts(tags.get('int_ref'))) if (!refs.includes(international)) refs.push(international)
  const unnamed = NAMES.every((key) => !tags.has(key))
  return unnamed && UNSIGNED_CLASSES.has(tags.get('highway') ?? '') ? parts(tags.get('unsigned_ref')) : refs
}

function signTexts(tags: Tags, direction: 'forward' | 'backward'): SignTexts {
  const numbers = (key: string): StreetName[] => parts(tags.get(key)).map((text) => ({ text, routeNumber: true }))
  const words = (value: string | undefined): StreetName[] => parts(value).map((text) => ({ text, routeNumber: false }))
  return {
    exitNumber: parts(tags.get('junction:ref')),
    branch: [...numbers('destination:ref'), ...words(tags.get('destination:street'))],
    toward: [
      ...numbers('destination:ref:to'),
      ...words(tags.get('destination:street:to')),
      ...words(tags.get('destination') ?? tags.get(`destination:${direction}`)),
    ],
    exitName: parts(tags.get('junction:name')),
  }
}

/** Splits a list value as Valhalla does: empty parts are dropped, spaces are kept, so that `B; A` does not share `A`. */
export function parts(value: string | undefined): string[] {
  return (value ?? '').split(';').filter(Boolean)
}
