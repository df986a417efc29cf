import type { Phrases } from '../phrases.ts'
import { enUS } from './en-us.ts'

/** English as in the United Kingdom: the same sentences with British words. */
export const enGB: Phrases = {
  ...enUS,
  tag: 'en-GB',
  unnamed: { walkway: 'the footpath', cycleway: 'the cycle path', crosswalk: 'the crossing' },
  lengths: {
    ...enUS.lengths,
    kilometers: '{n} kilometres',
    kilometer: '1 kilometre',
    meters: '{n} metres',
    fewMeters: 'less than 10 metres',
    halfMile: 'half a mile',
    quarterMile: 'a quarter of a mile',
  },
  start: {
    ...enUS.start,
    bicycle: {
      plain: 'Cycle {cardinal}.',
      on: 'Cycle {cardinal} on {street}.',
      onThen: 'Cycle {cardinal} on {begin}. Continue on {street}.',
    },
  },
  rampStraight: {
    plain: 'Stay straight to take the slip road.',
    branch: 'Stay straight to take the {branch} slip road.',
    toward: 'Stay straight to take the slip road towards {sign}.',
    branchToward: 'Stay straight to take the {branch} slip road towards {sign}.',
    name: 'Stay straight to take the {name} slip road.',
  },
  rampSide: {
    left: 'left',
    right: 'right',
    plain: 'Take the slip road on the {side}.',
    branch: 'Take the {branch} slip road on the {side}.',
    toward: 'Take the slip road on the {side} towards {sign}.',
    branchToward: 'Take the {branch} slip road on the {side} towards {sign}.',
    name: 'Take the {name} slip road on the {side}.',
  },
  rampTurn: {
    left: 'left',
    right: 'right',
    plain: 'Turn {side} to take the slip road.',
    branch: 'Turn {side} to take the {branch} slip road.',
    toward: 'Turn {side} to take the slip road towards {sign}.',
    branchToward: 'Turn {side} to take the {branch} slip road towards {sign}.',
    name: 'Turn {side} to take the {name} slip road.',
  },
  ramp: {
    plain: 'Take the slip road.',
    branch: 'Take the {branch} slip road.',
    toward: 'Take the slip road towards {sign}.',
    branchToward: 'Take the {branch} slip road towards {sign}.',
    name: 'Take the {name} slip road.',
  },
  elevator: 'Take the lift.',
}
