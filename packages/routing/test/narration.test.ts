import { seededRandom } from '@terrane/core'
import { describe, expect, it } from 'vitest'

import type { Name } from '../src/graph/texts.ts'
import { Kind, type Maneuver, newManeuver } from '../src/guide/maneuver.ts'
import { noSigns, type Signs } from '../src/guide/signs.ts'
import { LANGUAGES } from '../src/narrate/languages/index.ts'
import { narrate, type Narration } from '../src/narrate/narrate.ts'
import type { Phrases } from '../src/narrate/phrases.ts'

const KINDS = Object.values(Kind).filter((kind) => kind !== Kind.none)

/** Names that no phrase could contain by itself. */
const NAMES = ['Qa Street', 'Qb', 'B 77', 'Qc Platz', 'Qd Ferry', 'Qe']

/** A maneuver of a kind with random names, signs and neighbours. */
function randomManeuver(kind: number, random: () => number): Maneuver {
  const chance = (share: number): boolean => random() < share
  const pick = <T>(options: readonly T[]): T => options[Math.floor(random() * options.length)]!
  const names = (share: number): Name[] =>
    chance(share)
      ? Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({ text: pick(NAMES), isRouteNumber: chance(0.3) }))
      : []
  const signs = (share: number): Signs => {
    const texts = () => names(share).map((name) => ({ ...name, count: Math.floor(random() * 2) }))
    return {
      ...noSigns(),
      exitNumbers: chance(share) ? [{ text: '12b', isRouteNumber: false, count: 0 }] : [],
      exitBranches: texts(),
      exitTowards: texts(),
      exitNames: texts(),
      guideBranches: texts(),
      guideTowards: texts(),
    }
  }
  const streets = names(0.7)
  const travelMode = pick(['drive', 'bicycle', 'pedestrian'] as const)
  return {
    ...newManeuver(),
    kind,
    travelMode,
    names: streets,
    beginNames: names(0.3),
    crossNames: names(0.3),
    meters: pick([0, 4, 30, 500, 1000, 1400, 1600, 2500, 12_345]),
    seconds: 30,
    basicSeconds: pick([3, 20, 90]),
    direction: pick(['none', 'keepStraight', 'keepRight', 'right', 'reverse', 'left', 'keepLeft'] as const),
    beginHeading: Math.floor(random() * 360),
    driveOnRight: chance(0.5),
    signs: signs(pick([0, 0, 0.5])),
    unnamedTrail: chance(0.3),
    trail: pick(['none', 'walkway', 'cycleway'] as const),
    pedestrianCrossing: chance(0.3),
    passesElevator: chance(0.5),
    includesObvious: chance(0.2),
    includesMerge: chance(0.2),
    toStayOn: streets.length > 0 && chance(0.3),
    branchesRight: chance(0.5),
    branchesLeft: chance(0.5),
    longName: chance(0.1),
    ramp: chance(0.3),
    roundaboutExit: Math.floor(random() * 12),
    exitNames: names(0.5),
    exitBeginNames: names(0.3),
    exitSigns: signs(pick([0, 0.5])),
  }
}

/** Legs of random maneuvers in which every kind comes often. */
function randomLegs(count: number): Maneuver[][] {
  const random = seededRandom(11)
  return Array.from({ length: count }, (_leg, leg) =>
    Array.from({ length: 10 }, (_, i) => randomManeuver(KINDS[(leg * 10 + i) % KINDS.length]!, random)),
  )
}

const LEGS = randomLegs(120)
const DESTINATIONS = [
  { name: null, street: null },
  { name: 'Qf Café', street: null },
  { name: null, street: 'Qg Allee' },
] as const

function narrateAll(phrases: Phrases): Narration[] {
  return LEGS.flatMap((maneuvers, i) =>
    narrate(maneuvers, { phrases, units: i % 2 === 0 ? 'kilometers' : 'miles', destination: DESTINATIONS[i % 3]! }),
  )
}

const TEXTS = ['instruction', 'alert', 'succinct', 'cue', 'after'] as const

/** The names in a text, in any order. */
function namesTold(text: string): string[] {
  return [...text.matchAll(/Q[a-g]|B 77|12b/g)].map(String).toSorted()
}

const english = narrateAll(LANGUAGES[0]!)

/** Entering a circle whose exit is unknown ends without a full stop in English, as Valhalla has it. */
const UNSTOPPED = /^Enter [^.]*$/

describe.each(LANGUAGES.map((phrases) => [phrases.tag, phrases] as const))('%s', (tag, phrases) => {
  const narrations = narrateAll(phrases)

  it('has an instruction for every kind of maneuver, and texts where English has them', () => {
    narrations.forEach((narration, i) => {
      expect(narration.instruction).not.toBe('')
      const said = (which: Narration) => TEXTS.filter((text) => which[text] !== '')
      expect(said(narration), english[i]!.instruction).toEqual(said(english[i]!))
      expect(narration.both).toBe(english[i]!.both)
    })
  })

  it('fills every place and ends every text with a full stop', () => {
    for (const narration of narrations) {
      for (const which of TEXTS) {
        const text = narration[which]
        if (text === '') continue
        expect(text).not.toMatch(/[{}]|undefined| {2}|[\s,:][.,]|\.\./)
        expect(text).toMatch(/^[\p{Lu}\p{Lo}\p{N}]/u)
        if (!(tag.startsWith('en') && UNSTOPPED.test(text.split('. ').at(-1)!))) expect(text).toMatch(/[.。।]$/)
      }
    }
  })

  it('tells the names and signs that English tells', () => {
    narrations.forEach((narration, i) => {
      for (const which of TEXTS) {
        const text = english[i]![which]
        expect(namesTold(narration[which]), text).toEqual(namesTold(text))
      }
    })
  })

  it('says nothing at much greater length than English', () => {
    narrations.forEach((narration, i) => {
      for (const which of TEXTS) {
        expect(narration[which].length, narration[which]).toBeLessThanOrEqual(1.6 * english[i]![which].length + 30)
      }
    })
  })
})

it('covers every kind of maneuver in every language', () => {
  const seen = new Set(LEGS.flat().map(({ kind }) => kind))
  expect([...seen].toSorted((a, b) => a - b)).toEqual(KINDS.toSorted((a, b) => a - b))
})
