import type { Name } from '../../src/graph/texts.ts'
import { Kind, type Maneuver, newManeuver } from '../../src/guide/maneuver.ts'
import { noSigns } from '../../src/guide/signs.ts'
import { wordLength } from '../../src/narrate/lengths.ts'
import { narrate } from '../../src/narrate/narrate.ts'
import type { Phrases } from '../../src/narrate/phrases.ts'

const street: Name[] = [{ text: 'Main Street', isRouteNumber: false }]
const sign = (text: string) => [{ text, isRouteNumber: false, count: 0 }]

/** Maneuvers with a text in the `examples` of each language file, by kind. */
const MANEUVERS: Readonly<Record<string, Partial<Maneuver>>> = {
  'drive off': { kind: Kind.start, beginHeading: 90, names: street },
  'ride off': { kind: Kind.start, beginHeading: 90, names: street, travelMode: 'bicycle' },
  'walk off': { kind: Kind.start, beginHeading: 225, travelMode: 'pedestrian', trail: 'walkway', unnamedTrail: true },
  'arrive on the right': { kind: Kind.destinationRight },
  'go on': { kind: Kind.continue, names: street },
  'bear right': { kind: Kind.slightRight, names: street },
  'turn left': { kind: Kind.left, names: street },
  'turn left, then the street changes its name': {
    kind: Kind.left,
    names: street,
    beginNames: [{ text: 'Side Street', isRouteNumber: false }],
  },
  'turn right to stay on a street': { kind: Kind.right, names: street, toStayOn: true },
  'turn sharply': { kind: Kind.sharpLeft, names: street },
  'turn around': { kind: Kind.uturnLeft, names: street },
  'take a ramp': { kind: Kind.rampRight, signs: { ...noSigns(), exitTowards: sign('Springfield') } },
  'take an exit': {
    kind: Kind.exitRight,
    signs: { ...noSigns(), exitNumbers: sign('12'), exitBranches: sign('A 8'), exitTowards: sign('Springfield') },
  },
  'keep left': { kind: Kind.stayLeft, signs: { ...noSigns(), exitTowards: sign('Springfield') } },
  merge: { kind: Kind.mergeRight, names: street, mergeDirection: 'keepRight' },
  'enter a roundabout': { kind: Kind.roundaboutEnter, roundabout: true, roundaboutExit: 2, exitNames: street },
  'leave a roundabout': { kind: Kind.roundaboutExit, names: street },
  'take a ferry': { kind: Kind.ferryEnter, names: [{ text: 'River Ferry', isRouteNumber: false }] },
  'take stairs': { kind: Kind.stepsEnter },
  'take a lift': { kind: Kind.elevatorEnter },
  'enter a building': { kind: Kind.buildingEnter, names: street },
}

const LENGTHS = {
  'a few metres': 5,
  '300 metres': 300,
  '1 kilometre': 1000,
  '1.5 kilometres': 1500,
  '12 kilometres': 12_000,
}

/** Sentences of a language for the maneuvers and lengths of the examples in its file. */
export function examplesOf(phrases: Phrases): Record<string, string> {
  const destination = { name: null, street: null }
  const maneuvers = Object.entries(MANEUVERS).map(([name, maneuver]) => {
    const leg = [{ ...newManeuver(), driveOnRight: true, meters: 300, ...maneuver }]
    return [name, narrate(leg, { phrases, units: 'kilometers', destination })[0]!.instruction]
  })
  const lengths = Object.entries(LENGTHS).map(([name, meters]) => [name, wordLength(phrases, 'kilometers', meters)])
  return Object.fromEntries([...maneuvers, ...lengths]) as Record<string, string>
}
