import type { Phrases } from '../phrases.ts'
import { exitPhrases, mergePhrases, rampPhrases, roundaboutPhrases, type Tails, turnPhrases } from './compose.ts'

const sides = { left: 'lewo', right: 'prawo' }

// Names would be inflected after a preposition, so they stand by themselves after a colon.
const tails: Tails = {
  onto: ': {street}',
  ontoThen: ': {begin}. Dalej: {street}',
  stayOn: ', dalej: {street}',
  toward: ', kierunek: {sign}',
  branch: ': {branch}',
}

const exits = { counted: ' i wybierz {ordinal} zjazd', any: ' i wybierz zjazd' }

/** Polish. Lengths are accusative, which “za” and “przez” govern. */
export const plPL: Phrases = {
  tag: 'pl-PL',
  decimal: ',',
  cardinals: [
    'północ',
    'północny wschód',
    'wschód',
    'południowy wschód',
    'południe',
    'południowy zachód',
    'zachód',
    'północny zachód',
  ],
  ordinals: ['pierwszy', 'drugi', 'trzeci', 'czwarty', 'piąty', 'szósty', 'siódmy', 'ósmy', 'dziewiąty', 'dziesiąty'],
  unnamed: { walkway: 'chodnik', cycleway: 'droga rowerowa', crosswalk: 'przejście dla pieszych' },
  approach: 'Za {length}: {alert}',
  lengths: {
    kilometers: { one: '{n} kilometr', few: '{n} kilometry', many: '{n} kilometrów', other: '{n} kilometra' },
    kilometer: '1 kilometr',
    meters: { one: '{n} metr', few: '{n} metry', many: '{n} metrów', other: '{n} metra' },
    fewMeters: 'mniej niż 10 metrów',
    miles: { one: '{n} milę', few: '{n} mile', many: '{n} mil', other: '{n} mili' },
    mile: '1 milę',
    halfMile: 'pół mili',
    quarterMile: 'ćwierć mili',
    feet: { one: '{n} stopę', few: '{n} stopy', many: '{n} stóp', other: '{n} stopy' },
    fewFeet: 'mniej niż 10 stóp',
  },
  start: {
    drive: {
      plain: 'Jedź na {cardinal}.',
      on: 'Jedź na {cardinal}: {street}.',
      onThen: 'Jedź na {cardinal}: {begin}. Dalej: {street}.',
    },
    bicycle: {
      plain: 'Jedź rowerem na {cardinal}.',
      on: 'Jedź rowerem na {cardinal}: {street}.',
      onThen: 'Jedź rowerem na {cardinal}: {begin}. Dalej: {street}.',
    },
    pedestrian: {
      plain: 'Idź na {cardinal}.',
      on: 'Idź na {cardinal}: {street}.',
      onThen: 'Idź na {cardinal}: {begin}. Dalej: {street}.',
    },
  },
  destination: {
    left: 'lewej',
    right: 'prawej',
    plain: 'Jesteś u celu.',
    at: 'Jesteś u celu: {destination}.',
    side: 'Cel znajduje się po {side} stronie.',
    atSide: '{destination} znajduje się po {side} stronie.',
  },
  destinationAhead: {
    left: 'lewej',
    right: 'prawej',
    plain: 'Dotrzesz do celu.',
    at: 'Dotrzesz do celu: {destination}.',
    side: 'Cel będzie po {side} stronie.',
    atSide: '{destination} będzie po {side} stronie.',
  },
  continue: { plain: 'Kontynuuj.', on: 'Kontynuuj: {street}.', toward: 'Kontynuuj, kierunek: {sign}.' },
  bear: turnPhrases('Skręć lekko w {side}', tails, sides),
  turn: turnPhrases('Skręć w {side}', tails, sides),
  sharp: turnPhrases('Skręć ostro w {side}', tails, sides),
  uturn: {
    ...sides,
    plain: 'Zawróć w {side}.',
    onto: 'Zawróć w {side}: {street}.',
    stayOn: 'Zawróć w {side}, dalej: {street}.',
    at: 'Zawróć w {side} na skrzyżowaniu: {cross}.',
    atOnto: 'Zawróć w {side} na skrzyżowaniu: {cross}, dalej: {street}.',
    atStayOn: 'Zawróć w {side} na skrzyżowaniu: {cross}, pozostając na: {street}.',
    toward: 'Zawróć w {side}, kierunek: {sign}.',
  },
  rampStraight: rampPhrases({ plain: 'Jedź prosto na łącznicę', name: 'Jedź prosto na łącznicę {name}' }, tails),
  rampSide: {
    left: 'lewej',
    right: 'prawej',
    ...rampPhrases({ plain: 'Wjedź na łącznicę po {side}', name: 'Wjedź na łącznicę {name} po {side}' }, tails),
  },
  rampTurn: {
    ...sides,
    ...rampPhrases({ plain: 'Skręć w {side} na łącznicę', name: 'Skręć w {side} na łącznicę {name}' }, tails),
  },
  ramp: rampPhrases({ plain: 'Wjedź na łącznicę', name: 'Wjedź na łącznicę {name}' }, tails),
  exit: exitPhrases({ plain: 'Wybierz zjazd', number: 'Wybierz zjazd {number}', name: 'Wybierz zjazd {name}' }, tails),
  exitSide: {
    left: 'lewej',
    right: 'prawej',
    ...exitPhrases(
      {
        plain: 'Wybierz zjazd po {side}',
        number: 'Wybierz zjazd {number} po {side}',
        name: 'Wybierz zjazd {name} po {side}',
      },
      tails,
    ),
  },
  keep: {
    left: 'Trzymaj się lewej strony',
    straight: 'Jedź prosto',
    right: 'Trzymaj się prawej strony',
    plain: '{side} na rozwidleniu.',
    number: '{side}, zjazd {number}.',
    street: '{side}: {street}.',
    numberStreet: '{side}, zjazd {number}: {street}.',
    toward: '{side}, kierunek: {sign}.',
    numberToward: '{side}, zjazd {number}, kierunek: {sign}.',
    streetToward: '{side}: {street}, kierunek: {sign}.',
    numberStreetToward: '{side}, zjazd {number}: {street}, kierunek: {sign}.',
  },
  keepToStay: {
    plain: '{side}, pozostając na: {street}.',
    number: '{side}, zjazd {number}, pozostając na: {street}.',
    toward: '{side}, pozostając na: {street}, kierunek: {sign}.',
    numberToward: '{side}, zjazd {number}, pozostając na: {street}, kierunek: {sign}.',
  },
  merge: mergePhrases({ plain: 'Włącz się do ruchu', side: 'Włącz się do ruchu po {side}' }, tails, {
    left: 'lewej',
    right: 'prawej',
  }),
  roundabout: roundaboutPhrases('Wjedź na rondo', exits, tails),
  namedRoundabout: roundaboutPhrases('Wjedź na {circle}', exits, tails),
  leaveRoundabout: {
    plain: 'Zjedź z ronda.',
    onto: 'Zjedź z ronda: {street}.',
    ontoThen: 'Zjedź z ronda: {begin}. Dalej: {street}.',
    toward: 'Zjedź z ronda, kierunek: {sign}.',
  },
  ferry: {
    plain: 'Skorzystaj z promu.',
    named: 'Wejdź na pokład: {street}.',
    labelled: 'Skorzystaj z promu: {street}.',
    toward: 'Skorzystaj z promu, kierunek: {sign}.',
    label: /^prom(?!\p{L})/iu,
  },
  elevator: 'Skorzystaj z windy.',
  stairs: 'Skorzystaj ze schodów.',
  escalator: 'Skorzystaj ze schodów ruchomych.',
  enterBuilding: { plain: 'Wejdź do budynku.', on: 'Wejdź do budynku i idź dalej: {street}.' },
  leaveBuilding: { plain: 'Wyjdź z budynku.', on: 'Wyjdź z budynku i idź dalej: {street}.' },
  after: { plain: 'Kontynuuj przez {length}.', on: 'Kontynuuj przez {length}: {street}.' },
  followed: { soon: '{cue} Następnie: {next}', later: '{cue} Następnie, za {length}: {next}' },
}
