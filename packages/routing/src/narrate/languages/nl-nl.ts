import type { Phrases } from '../phrases.ts'
import { exitPhrases, mergePhrases, rampPhrases, roundaboutPhrases, type Tails, turnPhrases } from './compose.ts'

const sides = { left: 'links', right: 'rechts' }

const tails: Tails = {
  onto: ' naar {street}',
  ontoThen: ' naar {begin}. Ga verder op {street}',
  stayOn: ' om op {street} te blijven',
  toward: ' richting {sign}',
  branch: ' naar {branch}',
}

const exits = { counted: ' en neem de {ordinal} afslag', any: ' en neem de afslag' }

/** Dutch. */
export const nlNL: Phrases = {
  tag: 'nl-NL',
  decimal: ',',
  cardinals: [
    'het noorden',
    'het noordoosten',
    'het oosten',
    'het zuidoosten',
    'het zuiden',
    'het zuidwesten',
    'het westen',
    'het noordwesten',
  ],
  ordinals: ['eerste', 'tweede', 'derde', 'vierde', 'vijfde', 'zesde', 'zevende', 'achtste', 'negende', 'tiende'],
  unnamed: { walkway: 'het voetpad', cycleway: 'het fietspad', crosswalk: 'de voetgangersoversteekplaats' },
  approach: 'Over {length}: {alert}',
  lengths: {
    kilometers: '{n} kilometer',
    kilometer: '1 kilometer',
    meters: '{n} meter',
    fewMeters: 'minder dan 10 meter',
    miles: '{n} mijl',
    mile: '1 mijl',
    halfMile: 'een halve mijl',
    quarterMile: 'een kwart mijl',
    feet: '{n} voet',
    fewFeet: 'minder dan 10 voet',
  },
  start: {
    drive: {
      plain: 'Rijd naar {cardinal}.',
      on: 'Rijd op {street} naar {cardinal}.',
      onThen: 'Rijd op {begin} naar {cardinal}. Ga verder op {street}.',
    },
    bicycle: {
      plain: 'Fiets naar {cardinal}.',
      on: 'Fiets op {street} naar {cardinal}.',
      onThen: 'Fiets op {begin} naar {cardinal}. Ga verder op {street}.',
    },
    pedestrian: {
      plain: 'Loop naar {cardinal}.',
      on: 'Loop op {street} naar {cardinal}.',
      onThen: 'Loop op {begin} naar {cardinal}. Ga verder op {street}.',
    },
  },
  destination: {
    left: 'linkerkant',
    right: 'rechterkant',
    plain: 'U hebt uw bestemming bereikt.',
    at: 'U hebt uw bestemming bereikt: {destination}.',
    side: 'Uw bestemming is aan de {side}.',
    atSide: '{destination} is aan de {side}.',
  },
  destinationAhead: {
    left: 'linkerkant',
    right: 'rechterkant',
    plain: 'U bereikt zo uw bestemming.',
    at: 'U bereikt zo uw bestemming: {destination}.',
    side: 'Uw bestemming komt aan de {side}.',
    atSide: '{destination} komt aan de {side}.',
  },
  continue: { plain: 'Ga verder.', on: 'Ga verder op {street}.', toward: 'Ga verder richting {sign}.' },
  bear: turnPhrases('Sla schuin {side} af', tails, sides),
  turn: turnPhrases('Sla {side} af', tails, sides),
  sharp: turnPhrases('Sla scherp {side} af', tails, sides),
  uturn: {
    ...sides,
    plain: 'Keer {side} om.',
    onto: 'Keer {side} om naar {street}.',
    stayOn: 'Keer {side} om en blijf op {street}.',
    at: 'Keer {side} om bij {cross}.',
    atOnto: 'Keer {side} om bij {cross} naar {street}.',
    atStayOn: 'Keer {side} om bij {cross} en blijf op {street}.',
    toward: 'Keer {side} om richting {sign}.',
  },
  rampStraight: rampPhrases(
    { plain: 'Ga rechtdoor en neem de verbindingsweg', name: 'Ga rechtdoor en neem de verbindingsweg {name}' },
    tails,
  ),
  rampSide: {
    ...sides,
    ...rampPhrases({ plain: 'Neem {side} de verbindingsweg', name: 'Neem {side} de verbindingsweg {name}' }, tails),
  },
  rampTurn: {
    ...sides,
    ...rampPhrases(
      { plain: 'Sla {side} af en neem de verbindingsweg', name: 'Sla {side} af en neem de verbindingsweg {name}' },
      tails,
    ),
  },
  ramp: rampPhrases({ plain: 'Neem de verbindingsweg', name: 'Neem de verbindingsweg {name}' }, tails),
  exit: exitPhrases({ plain: 'Neem de afrit', number: 'Neem afrit {number}', name: 'Neem afrit {name}' }, tails),
  exitSide: {
    ...sides,
    ...exitPhrases(
      { plain: 'Neem {side} de afrit', number: 'Neem {side} afrit {number}', name: 'Neem {side} afrit {name}' },
      tails,
    ),
  },
  keep: {
    left: 'Houd links aan',
    straight: 'Ga rechtdoor',
    right: 'Houd rechts aan',
    plain: '{side} bij de splitsing.',
    number: '{side} en neem afrit {number}.',
    street: '{side} en neem {street}.',
    numberStreet: '{side} en neem afrit {number} naar {street}.',
    toward: '{side} richting {sign}.',
    numberToward: '{side} en neem afrit {number} richting {sign}.',
    streetToward: '{side} en neem {street} richting {sign}.',
    numberStreetToward: '{side} en neem afrit {number} naar {street} richting {sign}.',
  },
  keepToStay: {
    plain: '{side} om op {street} te blijven.',
    number: '{side}, afrit {number}, om op {street} te blijven.',
    toward: '{side} om op {street} te blijven, richting {sign}.',
    numberToward: '{side}, afrit {number}, om op {street} te blijven, richting {sign}.',
  },
  merge: mergePhrases({ plain: 'Voeg in', side: 'Voeg {side} in' }, { ...tails, onto: ' op {street}' }, sides),
  roundabout: roundaboutPhrases('Rijd de rotonde op', exits, tails),
  namedRoundabout: roundaboutPhrases('Rijd {circle} op', exits, tails),
  leaveRoundabout: {
    plain: 'Verlaat de rotonde.',
    onto: 'Verlaat de rotonde naar {street}.',
    ontoThen: 'Verlaat de rotonde naar {begin}. Ga verder op {street}.',
    toward: 'Verlaat de rotonde richting {sign}.',
  },
  ferry: {
    plain: 'Neem de veerboot.',
    named: 'Neem {street}.',
    labelled: 'Neem de veerboot {street}.',
    toward: 'Neem de veerboot richting {sign}.',
    label: /(veer|veerboot|veerpont|veerdienst|pont)$|^(veer|pont)/iu,
  },
  elevator: 'Neem de lift.',
  stairs: 'Neem de trap.',
  escalator: 'Neem de roltrap.',
  enterBuilding: { plain: 'Ga het gebouw in.', on: 'Ga het gebouw in en ga verder op {street}.' },
  leaveBuilding: { plain: 'Ga het gebouw uit.', on: 'Ga het gebouw uit en ga verder op {street}.' },
  after: { plain: 'Ga {length} verder.', on: 'Ga {length} verder op {street}.' },
  followed: { soon: '{cue} Daarna: {next}', later: '{cue} Daarna, over {length}: {next}' },
}
