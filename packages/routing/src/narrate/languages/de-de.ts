import type { Phrases } from '../phrases.ts'
import { exitPhrases, mergePhrases, rampPhrases, roundaboutPhrases, type Tails, turnPhrases } from './compose.ts'

const sides = { left: 'links', right: 'rechts' }

// Names stand without an article, so that the same words serve where one turns onto a street and where one is on it.
const tails: Tails = {
  onto: ' auf {street}',
  ontoThen: ' auf {begin}. Weiter auf {street}',
  stayOn: ', um auf {street} zu bleiben',
  toward: ' Richtung {sign}',
  branch: ' auf {branch}',
}

const exits = { counted: ' und nehmen Sie die {ordinal} Ausfahrt', any: ' und nehmen Sie die Ausfahrt' }

/** German. Lengths are accusative. */
export const deDE: Phrases = {
  tag: 'de-DE',
  decimal: ',',
  cardinals: ['Norden', 'Nordosten', 'Osten', 'Südosten', 'Süden', 'Südwesten', 'Westen', 'Nordwesten'],
  ordinals: ['erste', 'zweite', 'dritte', 'vierte', 'fünfte', 'sechste', 'siebte', 'achte', 'neunte', 'zehnte'],
  unnamed: { walkway: 'Fußweg', cycleway: 'Radweg', crosswalk: 'Fußgängerüberweg' },
  approach: 'In {length}: {alert}',
  lengths: {
    kilometers: '{n} Kilometer',
    kilometer: '1 Kilometer',
    meters: '{n} Meter',
    fewMeters: 'weniger als 10 Meter',
    miles: '{n} Meilen',
    mile: '1 Meile',
    halfMile: 'eine halbe Meile',
    quarterMile: 'eine Viertelmeile',
    feet: '{n} Fuß',
    fewFeet: 'weniger als 10 Fuß',
  },
  start: {
    drive: {
      plain: 'Fahren Sie nach {cardinal}.',
      on: 'Fahren Sie auf {street} nach {cardinal}.',
      onThen: 'Fahren Sie auf {begin} nach {cardinal}. Weiter auf {street}.',
    },
    bicycle: {
      plain: 'Radeln Sie nach {cardinal}.',
      on: 'Radeln Sie auf {street} nach {cardinal}.',
      onThen: 'Radeln Sie auf {begin} nach {cardinal}. Weiter auf {street}.',
    },
    pedestrian: {
      plain: 'Gehen Sie nach {cardinal}.',
      on: 'Gehen Sie auf {street} nach {cardinal}.',
      onThen: 'Gehen Sie auf {begin} nach {cardinal}. Weiter auf {street}.',
    },
  },
  destination: {
    ...sides,
    plain: 'Sie haben Ihr Ziel erreicht.',
    at: 'Sie haben Ihr Ziel erreicht: {destination}.',
    side: 'Ihr Ziel befindet sich {side}.',
    atSide: '{destination} befindet sich {side}.',
  },
  destinationAhead: {
    ...sides,
    plain: 'Sie erreichen gleich Ihr Ziel.',
    at: 'Sie erreichen gleich Ihr Ziel: {destination}.',
    side: 'Gleich erreichen Sie {side} Ihr Ziel.',
    atSide: 'Gleich erreichen Sie {side} Ihr Ziel: {destination}.',
  },
  continue: {
    plain: 'Setzen Sie Ihren Weg fort.',
    on: 'Setzen Sie Ihren Weg auf {street} fort.',
    toward: 'Setzen Sie Ihren Weg Richtung {sign} fort.',
  },
  bear: turnPhrases('Biegen Sie leicht {side} ab', tails, sides),
  turn: turnPhrases('Biegen Sie {side} ab', tails, sides),
  sharp: turnPhrases('Biegen Sie scharf {side} ab', tails, sides),
  uturn: {
    ...sides,
    plain: 'Wenden Sie {side}.',
    onto: 'Wenden Sie {side} auf {street}.',
    stayOn: 'Wenden Sie {side}, um auf {street} zu bleiben.',
    at: 'Wenden Sie {side} an der Kreuzung {cross}.',
    atOnto: 'Wenden Sie {side} an der Kreuzung {cross} auf {street}.',
    atStayOn: 'Wenden Sie {side} an der Kreuzung {cross}, um auf {street} zu bleiben.',
    toward: 'Wenden Sie {side} Richtung {sign}.',
  },
  rampStraight: rampPhrases(
    { plain: 'Fahren Sie geradeaus auf die Rampe', name: 'Fahren Sie geradeaus auf die Rampe {name}' },
    tails,
  ),
  rampSide: {
    ...sides,
    ...rampPhrases({ plain: 'Nehmen Sie {side} die Rampe', name: 'Nehmen Sie {side} die Rampe {name}' }, tails),
  },
  rampTurn: {
    ...sides,
    ...rampPhrases(
      { plain: 'Biegen Sie {side} ab auf die Rampe', name: 'Biegen Sie {side} ab auf die Rampe {name}' },
      tails,
    ),
  },
  ramp: rampPhrases({ plain: 'Nehmen Sie die Rampe', name: 'Nehmen Sie die Rampe {name}' }, tails),
  exit: exitPhrases(
    {
      plain: 'Nehmen Sie die Ausfahrt',
      number: 'Nehmen Sie die Ausfahrt {number}',
      name: 'Nehmen Sie die Ausfahrt {name}',
    },
    tails,
  ),
  exitSide: {
    ...sides,
    ...exitPhrases(
      {
        plain: 'Nehmen Sie {side} die Ausfahrt',
        number: 'Nehmen Sie {side} die Ausfahrt {number}',
        name: 'Nehmen Sie {side} die Ausfahrt {name}',
      },
      tails,
    ),
  },
  keep: {
    ...sides,
    straight: 'geradeaus',
    plain: 'Halten Sie sich an der Gabelung {side}.',
    number: 'Halten Sie sich {side}: Ausfahrt {number}.',
    street: 'Halten Sie sich {side} auf {street}.',
    numberStreet: 'Halten Sie sich {side}: Ausfahrt {number} auf {street}.',
    toward: 'Halten Sie sich {side} Richtung {sign}.',
    numberToward: 'Halten Sie sich {side}: Ausfahrt {number} Richtung {sign}.',
    streetToward: 'Halten Sie sich {side} auf {street} Richtung {sign}.',
    numberStreetToward: 'Halten Sie sich {side}: Ausfahrt {number} auf {street} Richtung {sign}.',
  },
  keepToStay: {
    plain: 'Halten Sie sich {side}, um auf {street} zu bleiben.',
    number: 'Halten Sie sich {side}, Ausfahrt {number}, um auf {street} zu bleiben.',
    toward: 'Halten Sie sich {side}, um auf {street} Richtung {sign} zu bleiben.',
    numberToward: 'Halten Sie sich {side}, Ausfahrt {number}, um auf {street} Richtung {sign} zu bleiben.',
  },
  merge: mergePhrases({ plain: 'Fädeln Sie sich ein', side: 'Fädeln Sie sich {side} ein' }, tails, sides),
  roundabout: roundaboutPhrases('Fahren Sie in den Kreisverkehr', exits, tails),
  namedRoundabout: roundaboutPhrases('Fahren Sie in den Kreisverkehr {circle}', exits, tails),
  leaveRoundabout: {
    plain: 'Verlassen Sie den Kreisverkehr.',
    onto: 'Verlassen Sie den Kreisverkehr auf {street}.',
    ontoThen: 'Verlassen Sie den Kreisverkehr auf {begin}. Weiter auf {street}.',
    toward: 'Verlassen Sie den Kreisverkehr Richtung {sign}.',
  },
  ferry: {
    plain: 'Nehmen Sie die Fähre.',
    named: 'Nehmen Sie die {street}.',
    labelled: 'Nehmen Sie die Fähre {street}.',
    toward: 'Nehmen Sie die Fähre Richtung {sign}.',
    label: /fähre$/iu,
  },
  elevator: 'Nehmen Sie den Aufzug.',
  stairs: 'Nehmen Sie die Treppe.',
  escalator: 'Nehmen Sie die Rolltreppe.',
  enterBuilding: {
    plain: 'Betreten Sie das Gebäude.',
    on: 'Betreten Sie das Gebäude und gehen Sie weiter auf {street}.',
  },
  leaveBuilding: {
    plain: 'Verlassen Sie das Gebäude.',
    on: 'Verlassen Sie das Gebäude und gehen Sie weiter auf {street}.',
  },
  after: { plain: 'Folgen Sie dem Weg {length}.', on: 'Bleiben Sie {length} auf {street}.' },
  followed: { soon: '{cue} Danach: {next}', later: '{cue} Danach, {length} weiter: {next}' },
}
