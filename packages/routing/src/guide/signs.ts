import { SignType } from '../graph/attributes.ts'
import type { Name, Sign } from '../graph/texts.ts'

/** A text on a sign, and the number of following signs that repeat it. */
export interface SignText extends Name {
  readonly count: number
}

/** Texts on the signs of a maneuver, by their role. */
export interface Signs {
  exitNumbers: readonly SignText[]
  exitBranches: readonly SignText[]
  exitTowards: readonly SignText[]
  exitNames: readonly SignText[]
  guideBranches: readonly SignText[]
  guideTowards: readonly SignText[]
}

export type SignRole = keyof Signs

/** No signs. */
export function noSigns(): Signs {
  return { exitNumbers: [], exitBranches: [], exitTowards: [], exitNames: [], guideBranches: [], guideTowards: [] }
}

const ROLES: Readonly<Record<number, SignRole>> = {
  [SignType.exitNumber]: 'exitNumbers',
  [SignType.exitBranch]: 'exitBranches',
  [SignType.exitToward]: 'exitTowards',
  [SignType.exitName]: 'exitNames',
  [SignType.guideBranch]: 'guideBranches',
  [SignType.guideToward]: 'guideTowards',
}

/** Adds the exit signs, or the guide signs, of an edge. */
export function addSigns(signs: Signs, found: readonly Sign[], kind: 'exit' | 'guide'): void {
  for (const { text, isRouteNumber, type } of found) {
    const role = ROLES[type]
    if (role?.startsWith(kind) === true) signs[role] = [...signs[role], { text, isRouteNumber, count: 0 }]
  }
}

export function hasExit({ exitNumbers, exitBranches, exitTowards, exitNames }: Signs): boolean {
  return exitNumbers.length + exitBranches.length + exitTowards.length + exitNames.length > 0
}

export function hasGuide({ guideBranches, guideTowards }: Signs): boolean {
  return guideBranches.length + guideTowards.length > 0
}

export function hasAny(signs: Signs): boolean {
  return hasExit(signs) || hasGuide(signs)
}

/** Increases a text's count for each equal name, and puts the texts with the highest counts first. */
export function countAmong(texts: readonly SignText[], names: readonly Name[]): SignText[] {
  return byCount(
    texts.map((sign) => ({ ...sign, count: sign.count + names.filter(({ text }) => text === sign.text).length })),
  )
}

/** Counts the common texts of two consecutive signs, and moves those with the highest counts to the front. */
export function countConsecutive(before: Signs, after: Signs): void {
  for (const role of Object.values(ROLES)) {
    if (before[role].length === 0 || after[role].length === 0) continue
    const counted = after[role].map((sign) => {
      const shared = before[role].filter(({ text }) => text === sign.text).length
      return { ...sign, count: sign.count + shared }
    })
    before[role] = byCount(
      before[role].map((sign) => counted.find(({ text }) => text === sign.text) ?? sign).map((sign) => ({ ...sign })),
    )
    after[role] = byCount(counted)
  }
}

function byCount(texts: readonly SignText[]): SignText[] {
  return texts.toSorted((a, b) => b.count - a.count)
}
