import { motorway, named, primary, residential, type Scenario, secondary } from './scenario.ts'

const link = { highway: 'motorway_link', oneway: 'yes' }
const circle = { highway: 'secondary', junction: 'roundabout', oneway: 'yes' }

/** Instructions for travellers. */
export const GUIDANCE_SCENARIOS: readonly Scenario[] = [
  {
    behaviour: 'turns at a crossing',
    map: `
  B C D
   \\|/
A---X---E
   /|\\
  H G F
`,
    meters: 40,
    ways: Object.fromEntries(
      Array.from('ABCDEFGH', (letter) => [`${letter}X`, named(residential, `${letter} Street`)]),
    ),
    asks: Array.from('BCDEFGH', (letter) => ({ go: `A${letter}` })),
  },
  {
    behaviour: 'a street that changes its name',
    map: `
A---B---C
`,
    meters: 60,
    ways: { AB: named(residential, 'First Street'), BC: named(residential, 'Second Street') },
    asks: [{ go: 'AC' }, { go: 'CA' }],
  },
  {
    behaviour: 'a street that turns and keeps its name',
    map: `
A---B---C
    |
    D
`,
    meters: 60,
    ways: { ABD: named(residential, 'Bent Street'), BC: named(residential, 'Other Street') },
    asks: [{ go: 'AD' }, { go: 'DC' }],
  },
  {
    behaviour: 'a bend without any choice is no turn',
    map: `
A---B
    |
    C---D
`,
    meters: 60,
    ways: { ABC: named(residential, 'Bent Street'), CD: named(residential, 'Bent Street') },
    asks: [{ go: 'AD' }],
  },
  {
    behaviour: 'a roundabout, and which exit to take',
    map: `
    N
    |
    a
   / \\
W-b   d-E
   \\ /
    c
    |
    S
`,
    meters: 20,
    ways: {
      abcda: circle,
      aN: named(residential, 'North'),
      Wb: named(residential, 'West'),
      cS: named(residential, 'South'),
      dE: named(residential, 'East'),
    },
    asks: [
      { go: 'SE' },
      { go: 'SN' },
      { go: 'SW' },
      { go: 'SN', more: { roundabout_exits: false } },
      { go: 'EN', costing: 'bicycle' },
    ],
  },
  {
    behaviour: 'a roundabout with a name',
    map: `
    N
    |
    a
   / \\
W-b   d-E
   \\ /
    c
    |
    S
`,
    meters: 20,
    ways: { abcda: named(circle, 'Ring Circle'), aN: residential, Wb: residential, cS: residential, dE: residential },
    asks: [{ go: 'SN' }],
  },
  {
    behaviour: 'an exit of a motorway with its sign',
    map: `
A-----B-----C
       \\
        D---E
`,
    meters: 100,
    ways: {
      AB: { ...motorway, ref: 'A 1' },
      BC: { ...motorway, ref: 'A 1' },
      BD: { ...link, 'destination:ref': 'B 2', destination: 'Old Town;Harbour' },
      DE: named(primary, 'Harbour Road'),
    },
    nodes: { B: { highway: 'motorway_junction', ref: '12', name: 'Old Town' } },
    asks: [{ go: 'AE' }, { go: 'AC' }],
  },
  {
    behaviour: 'a ramp onto a motorway',
    map: `
A---B
     \\
C-----D-----E
`,
    meters: 100,
    ways: {
      AB: named(primary, 'Harbour Road'),
      BD: { ...link, destination: 'Capital' },
      CD: { ...motorway, ref: 'A 1' },
      DE: { ...motorway, ref: 'A 1' },
    },
    asks: [{ go: 'AE' }],
  },
  {
    behaviour: 'a fork of a motorway',
    map: `
        C
       /
A-----B
       \\
        D
`,
    meters: 100,
    ways: {
      AB: { ...motorway, ref: 'A 1', lanes: '4' },
      BC: { ...motorway, ref: 'A 1', lanes: '2', destination: 'North City' },
      BD: { ...motorway, ref: 'A 2', lanes: '2', destination: 'South City' },
    },
    asks: [{ go: 'AC' }, { go: 'AD' }],
  },
  {
    behaviour: 'turning around at a crossing of two carriageways',
    map: `
      M N
      | |
      | |
R-----L-O-----S
      | |
I-----K-P-----T
      | |
      | |
      J Q
`,
    meters: 10,
    ways: {
      QP: named({ ...primary, oneway: 'yes' }, 'Long Parkway'),
      PO: named({ ...primary, oneway: 'yes' }, 'Long Parkway'),
      ON: named({ ...primary, oneway: 'yes' }, 'Long Parkway'),
      ML: named({ ...primary, oneway: 'yes' }, 'Long Parkway'),
      LK: named({ ...primary, oneway: 'yes' }, 'Long Parkway'),
      KJ: named({ ...primary, oneway: 'yes' }, 'Long Parkway'),
      IK: named({ ...primary, oneway: 'yes' }, 'Wood Drive'),
      KP: named({ ...primary, oneway: 'yes' }, 'River Parkway'),
      OL: named({ ...primary, oneway: 'yes' }, 'River Parkway'),
      PT: named({ ...primary, oneway: 'yes' }, 'River Parkway'),
      OS: named({ ...primary, oneway: 'yes' }, 'River Parkway'),
      LR: named({ ...primary, oneway: 'yes' }, 'Wood Drive'),
    },
    asks: [{ go: 'QJ' }, { go: 'QR' }, { go: 'IT' }, { go: 'IN' }, { go: 'MJ' }, { go: 'QN' }],
  },
  {
    behaviour: 'turning around between two carriageways',
    map: `
   D C
   | |
   | |
G--E-B--H
   | |
   | |
   F A
`,
    meters: 10,
    ways: {
      AB: named({ ...primary, oneway: 'yes' }, 'Main Road'),
      BC: named({ ...primary, oneway: 'yes' }, 'Main Road'),
      DE: named({ ...primary, oneway: 'yes' }, 'Main Road'),
      EF: named({ ...primary, oneway: 'yes' }, 'Main Road'),
      HB: named(secondary, 'Side Road'),
      BE: named(secondary, 'Side Road'),
      EG: named(secondary, 'Side Road'),
    },
    asks: [{ go: 'AF' }, { go: 'AG' }, { go: 'DH' }, { go: 'GF' }],
  },
  {
    behaviour: 'two turns that follow each other soon',
    map: `
        C---D
        |
A-------B---E
`,
    meters: 20,
    ways: {
      AB: named(residential, 'First Street'),
      BC: named(residential, 'Short Lane'),
      CD: named(residential, 'Second Street'),
      BE: named(residential, 'Far Street'),
    },
    asks: [{ go: 'AD' }, { go: 'DE' }, { go: 'AD', more: { units: 'miles' } }],
  },
  {
    behaviour: 'paths of walkers and riders without names',
    map: `
A---B---C
    |
    D---E
`,
    meters: 60,
    ways: {
      ABC: named(residential, 'Park Street'),
      BD: { highway: 'footway' },
      DE: { highway: 'path', bicycle: 'designated', foot: 'designated' },
    },
    asks: [
      { go: 'AE', costing: 'pedestrian' },
      { go: 'CE', costing: 'pedestrian' },
    ],
  },
  {
    behaviour: 'a ferry on the way',
    map: `
A---B-----C---D
`,
    meters: 200,
    ways: {
      AB: named(residential, 'West Pier'),
      BC: { route: 'ferry', name: 'Lake Ferry', motor_vehicle: 'yes' },
      CD: named(residential, 'East Pier'),
    },
    asks: [{ go: 'AD' }, { go: 'AD', costing: 'pedestrian' }, { go: 'AD', costing: 'bicycle' }],
  },
  {
    behaviour: 'a street that is as straight as that which one takes',
    map: `
            C
         .
A-----B-----D
`,
    meters: 40,
    ways: {
      AB: named(residential, 'First Street'),
      BC: named(residential, 'Upper Street'),
      BD: named(residential, 'Lower Street'),
    },
    asks: [{ go: 'AC' }, { go: 'AD' }],
  },
  {
    behaviour: 'a crossing that is tagged as one',
    map: `
A----B----C
     |    |
D----E----F
`,
    meters: 40,
    ways: {
      AB: named({ highway: 'trunk', oneway: 'yes' }, 'East Way'),
      BC: named({ highway: 'trunk', oneway: 'yes' }, 'East Way'),
      FE: named({ highway: 'trunk', oneway: 'yes' }, 'West Way'),
      ED: named({ highway: 'trunk', oneway: 'yes' }, 'West Way'),
      CF: { highway: 'trunk_link', oneway: 'yes' },
      BE: { highway: 'service', junction: 'intersection', oneway: 'yes' },
    },
    asks: [{ go: 'AD' }, { go: 'AD', costing: 'truck' }],
  },
]
