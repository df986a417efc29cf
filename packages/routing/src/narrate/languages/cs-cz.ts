import type { Phrases } from '../phrases.ts'
import { exitPhrases, mergePhrases, rampPhrases, roundaboutPhrases, type Tails, turnPhrases } from './compose.ts'

const sides = { left: 'vlevo', right: 'vpravo' }

// Names would be inflected after a preposition, so they stand by themselves after a colon; “směr” takes them as they are.
const tails: Tails = {
  onto: ': {street}',
  ontoThen: ': {begin}. Dále: {street}',
  stayOn: ', dále: {street}',
  toward: ', směr {sign}',
  branch: ': {branch}',
}

const exits = { counted: ' a vyjeďte {ordinal} výjezdem', any: ' a vyjeďte výjezdem' }

/** Czech. Lengths are accusative; ordinals are instrumental. */
export const csCZ: Phrases = {
  tag: 'cs-CZ',
  decimal: ',',
  cardinals: ['sever', 'severovýchod', 'východ', 'jihovýchod', 'jih', 'jihozápad', 'západ', 'severozápad'],
  ordinals: ['prvním', 'druhým', 'třetím', 'čtvrtým', 'pátým', 'šestým', 'sedmým', 'osmým', 'devátým', 'desátým'],
  unnamed: { walkway: 'chodník', cycleway: 'cyklostezka', crosswalk: 'přechod pro chodce' },
  approach: 'Za {length}: {alert}',
  lengths: {
    kilometers: { one: '{n} kilometr', few: '{n} kilometry', many: '{n} kilometru', other: '{n} kilometrů' },
    kilometer: '1 kilometr',
    meters: { one: '{n} metr', few: '{n} metry', many: '{n} metru', other: '{n} metrů' },
    fewMeters: 'méně než 10 metrů',
    miles: { one: '{n} míli', few: '{n} míle', many: '{n} míle', other: '{n} mil' },
    mile: '1 míli',
    halfMile: 'půl míle',
    quarterMile: 'čtvrt míle',
    feet: { one: '{n} stopu', few: '{n} stopy', many: '{n} stopy', other: '{n} stop' },
    fewFeet: 'méně než 10 stop',
  },
  start: {
    drive: {
      plain: 'Jeďte na {cardinal}.',
      on: 'Jeďte na {cardinal}: {street}.',
      onThen: 'Jeďte na {cardinal}: {begin}. Dále: {street}.',
    },
    bicycle: {
      plain: 'Jeďte na kole na {cardinal}.',
      on: 'Jeďte na kole na {cardinal}: {street}.',
      onThen: 'Jeďte na kole na {cardinal}: {begin}. Dále: {street}.',
    },
    pedestrian: {
      plain: 'Jděte na {cardinal}.',
      on: 'Jděte na {cardinal}: {street}.',
      onThen: 'Jděte na {cardinal}: {begin}. Dále: {street}.',
    },
  },
  destination: {
    ...sides,
    plain: 'Jste v cíli.',
    at: 'Jste v cíli: {destination}.',
    side: 'Cíl je {side}.',
    atSide: '{destination} je {side}.',
  },
  destinationAhead: {
    ...sides,
    plain: 'Dorazíte do cíle.',
    at: 'Dorazíte do cíle: {destination}.',
    side: 'Cíl bude {side}.',
    atSide: '{destination} bude {side}.',
  },
  continue: { plain: 'Pokračujte.', on: 'Pokračujte: {street}.', toward: 'Pokračujte, směr {sign}.' },
  bear: turnPhrases('Odbočte mírně {side}', tails, sides),
  turn: turnPhrases('Odbočte {side}', tails, sides),
  sharp: turnPhrases('Odbočte ostře {side}', tails, sides),
  uturn: {
    left: 'vlevo',
    right: 'vpravo',
    plain: 'Otočte se {side}.',
    onto: 'Otočte se {side}: {street}.',
    stayOn: 'Otočte se {side}, dále: {street}.',
    at: 'Otočte se {side} na křižovatce: {cross}.',
    atOnto: 'Otočte se {side} na křižovatce: {cross}, dále: {street}.',
    atStayOn: 'Otočte se {side} na křižovatce: {cross}, stále: {street}.',
    toward: 'Otočte se {side}, směr {sign}.',
  },
  rampStraight: rampPhrases({ plain: 'Jeďte rovně na nájezd', name: 'Jeďte rovně na nájezd {name}' }, tails),
  rampSide: {
    ...sides,
    ...rampPhrases({ plain: 'Použijte nájezd {side}', name: 'Použijte {side} nájezd {name}' }, tails),
  },
  rampTurn: {
    ...sides,
    ...rampPhrases({ plain: 'Odbočte {side} na nájezd', name: 'Odbočte {side} na nájezd {name}' }, tails),
  },
  ramp: rampPhrases({ plain: 'Použijte nájezd', name: 'Použijte nájezd {name}' }, tails),
  exit: exitPhrases(
    { plain: 'Použijte sjezd', number: 'Použijte sjezd {number}', name: 'Použijte sjezd {name}' },
    tails,
  ),
  exitSide: {
    ...sides,
    ...exitPhrases(
      {
        plain: 'Použijte sjezd {side}',
        number: 'Použijte {side} sjezd {number}',
        name: 'Použijte {side} sjezd {name}',
      },
      tails,
    ),
  },
  keep: {
    left: 'Držte se vlevo',
    straight: 'Jeďte rovně',
    right: 'Držte se vpravo',
    plain: '{side} na rozcestí.',
    number: '{side}, sjezd {number}.',
    street: '{side}: {street}.',
    numberStreet: '{side}, sjezd {number}: {street}.',
    toward: '{side}, směr {sign}.',
    numberToward: '{side}, sjezd {number}, směr {sign}.',
    streetToward: '{side}: {street}, směr {sign}.',
    numberStreetToward: '{side}, sjezd {number}: {street}, směr {sign}.',
  },
  keepToStay: {
    plain: '{side}, stále: {street}.',
    number: '{side}, sjezd {number}, stále: {street}.',
    toward: '{side}, stále: {street}, směr {sign}.',
    numberToward: '{side}, sjezd {number}, stále: {street}, směr {sign}.',
  },
  merge: mergePhrases({ plain: 'Zařaďte se', side: 'Zařaďte se {side}' }, tails, sides),
  roundabout: roundaboutPhrases('Vjeďte na kruhový objezd', exits, tails),
  namedRoundabout: roundaboutPhrases('Vjeďte na kruhový objezd {circle}', exits, tails),
  leaveRoundabout: {
    plain: 'Opusťte kruhový objezd.',
    onto: 'Opusťte kruhový objezd: {street}.',
    ontoThen: 'Opusťte kruhový objezd: {begin}. Dále: {street}.',
    toward: 'Opusťte kruhový objezd, směr {sign}.',
  },
  ferry: {
    plain: 'Použijte přívoz.',
    named: 'Naloďte se: {street}.',
    labelled: 'Použijte přívoz {street}.',
    toward: 'Použijte přívoz, směr {sign}.',
    label: /^(přívoz|trajekt)(?!\p{L})/iu,
  },
  elevator: 'Použijte výtah.',
  stairs: 'Použijte schody.',
  escalator: 'Použijte eskalátor.',
  enterBuilding: { plain: 'Vejděte do budovy.', on: 'Vejděte do budovy a pokračujte: {street}.' },
  leaveBuilding: { plain: 'Vyjděte z budovy.', on: 'Vyjděte z budovy a pokračujte: {street}.' },
  after: { plain: 'Pokračujte {length}.', on: 'Pokračujte {length}: {street}.' },
  followed: { soon: '{cue} Poté: {next}', later: '{cue} Poté, za {length}: {next}' },
}
