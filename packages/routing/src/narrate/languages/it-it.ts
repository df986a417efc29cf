import type { Phrases } from '../phrases.ts'
import { exitPhrases, mergePhrases, rampPhrases, roundaboutPhrases, type Tails, turnPhrases } from './compose.ts'

const sides = { left: 'sinistra', right: 'destra' }

// “Su” stands before names as they are; what has no name has no article that it would have to be joined with.
const tails: Tails = {
  onto: ' su {street}',
  ontoThen: ' su {begin}. Continua su {street}',
  stayOn: ' per restare su {street}',
  toward: ' in direzione {sign}',
  branch: ' per {branch}',
}

const exits = { counted: ' e prendi la {ordinal} uscita', any: " e prendi l'uscita" }

/** Italian. */
export const itIT: Phrases = {
  tag: 'it-IT',
  decimal: ',',
  cardinals: ['nord', 'nord-est', 'est', 'sud-est', 'sud', 'sud-ovest', 'ovest', 'nord-ovest'],
  ordinals: ['prima', 'seconda', 'terza', 'quarta', 'quinta', 'sesta', 'settima', 'ottava', 'nona', 'decima'],
  unnamed: { walkway: 'percorso pedonale', cycleway: 'pista ciclabile', crosswalk: 'attraversamento pedonale' },
  approach: 'Tra {length}, {alert}',
  lengths: {
    kilometers: '{n} chilometri',
    kilometer: '1 chilometro',
    meters: '{n} metri',
    fewMeters: 'meno di 10 metri',
    miles: '{n} miglia',
    mile: '1 miglio',
    halfMile: 'mezzo miglio',
    quarterMile: 'un quarto di miglio',
    feet: '{n} piedi',
    fewFeet: 'meno di 10 piedi',
  },
  start: {
    drive: {
      plain: 'Guida verso {cardinal}.',
      on: 'Guida verso {cardinal} su {street}.',
      onThen: 'Guida verso {cardinal} su {begin}. Continua su {street}.',
    },
    bicycle: {
      plain: 'Pedala verso {cardinal}.',
      on: 'Pedala verso {cardinal} su {street}.',
      onThen: 'Pedala verso {cardinal} su {begin}. Continua su {street}.',
    },
    pedestrian: {
      plain: 'Cammina verso {cardinal}.',
      on: 'Cammina verso {cardinal} su {street}.',
      onThen: 'Cammina verso {cardinal} su {begin}. Continua su {street}.',
    },
  },
  destination: {
    ...sides,
    plain: 'Sei arrivato a destinazione.',
    at: 'Sei arrivato a destinazione: {destination}.',
    side: 'La tua destinazione è sulla {side}.',
    atSide: '{destination} è sulla {side}.',
  },
  destinationAhead: {
    ...sides,
    plain: 'Arriverai a destinazione.',
    at: 'Arriverai a destinazione: {destination}.',
    side: 'La tua destinazione sarà sulla {side}.',
    atSide: '{destination} sarà sulla {side}.',
  },
  continue: { plain: 'Continua.', on: 'Continua su {street}.', toward: 'Continua in direzione {sign}.' },
  bear: turnPhrases('Svolta leggermente a {side}', tails, sides),
  turn: turnPhrases('Svolta a {side}', tails, sides),
  sharp: turnPhrases('Fai una svolta stretta a {side}', tails, sides),
  uturn: {
    ...sides,
    plain: "Fai un'inversione a {side}.",
    onto: "Fai un'inversione a {side} su {street}.",
    stayOn: "Fai un'inversione a {side} per restare su {street}.",
    at: "Fai un'inversione a {side} all'incrocio con {cross}.",
    atOnto: "Fai un'inversione a {side} all'incrocio con {cross} e prendi {street}.",
    atStayOn: "Fai un'inversione a {side} all'incrocio con {cross} per restare su {street}.",
    toward: "Fai un'inversione a {side} in direzione {sign}.",
  },
  rampStraight: rampPhrases(
    { plain: 'Vai dritto e prendi la rampa', name: 'Vai dritto e prendi la rampa {name}' },
    tails,
  ),
  rampSide: {
    ...sides,
    ...rampPhrases({ plain: 'Prendi la rampa sulla {side}', name: 'Prendi la rampa {name} sulla {side}' }, tails),
  },
  rampTurn: {
    ...sides,
    ...rampPhrases(
      { plain: 'Svolta a {side} e prendi la rampa', name: 'Svolta a {side} e prendi la rampa {name}' },
      tails,
    ),
  },
  ramp: rampPhrases({ plain: 'Prendi la rampa', name: 'Prendi la rampa {name}' }, tails),
  exit: exitPhrases(
    { plain: "Prendi l'uscita", number: "Prendi l'uscita {number}", name: "Prendi l'uscita {name}" },
    tails,
  ),
  exitSide: {
    ...sides,
    ...exitPhrases(
      {
        plain: "Prendi l'uscita sulla {side}",
        number: "Prendi l'uscita {number} sulla {side}",
        name: "Prendi l'uscita {name} sulla {side}",
      },
      tails,
    ),
  },
  keep: {
    left: 'Mantieni la sinistra',
    straight: 'Vai dritto',
    right: 'Mantieni la destra',
    plain: '{side} al bivio.',
    number: "{side} e prendi l'uscita {number}.",
    street: '{side} e prendi {street}.',
    numberStreet: "{side} e prendi l'uscita {number} su {street}.",
    toward: '{side} in direzione {sign}.',
    numberToward: "{side} e prendi l'uscita {number} in direzione {sign}.",
    streetToward: '{side} e prendi {street} in direzione {sign}.',
    numberStreetToward: "{side} e prendi l'uscita {number} su {street} in direzione {sign}.",
  },
  keepToStay: {
    plain: '{side} per restare su {street}.',
    number: '{side}, uscita {number}, per restare su {street}.',
    toward: '{side} per restare su {street} in direzione {sign}.',
    numberToward: '{side}, uscita {number}, per restare su {street} in direzione {sign}.',
  },
  merge: mergePhrases({ plain: 'Immettiti', side: 'Immettiti a {side}' }, tails, sides),
  roundabout: roundaboutPhrases('Entra nella rotatoria', exits, tails),
  namedRoundabout: roundaboutPhrases('Entra in {circle}', exits, tails),
  leaveRoundabout: {
    plain: 'Esci dalla rotatoria.',
    onto: 'Esci dalla rotatoria su {street}.',
    ontoThen: 'Esci dalla rotatoria su {begin}. Continua su {street}.',
    toward: 'Esci dalla rotatoria in direzione {sign}.',
  },
  ferry: {
    plain: 'Prendi il traghetto.',
    named: 'Imbarcati: {street}.',
    labelled: 'Prendi il traghetto {street}.',
    toward: 'Prendi il traghetto in direzione {sign}.',
    label: /^(traghetto|ferry)\b|\bferry$/iu,
  },
  elevator: "Prendi l'ascensore.",
  stairs: 'Prendi le scale.',
  escalator: 'Prendi la scala mobile.',
  enterBuilding: { plain: "Entra nell'edificio.", on: "Entra nell'edificio e continua su {street}." },
  leaveBuilding: { plain: "Esci dall'edificio.", on: "Esci dall'edificio e continua su {street}." },
  after: { plain: 'Continua per {length}.', on: 'Continua su {street} per {length}.' },
  followed: { soon: '{cue} Poi: {next}', later: '{cue} Poi, tra {length}: {next}' },
}
