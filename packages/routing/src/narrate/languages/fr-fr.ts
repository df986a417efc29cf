import type { Phrases } from '../phrases.ts'
import { exitPhrases, mergePhrases, rampPhrases, roundaboutPhrases, type Tails, turnPhrases } from './compose.ts'

const sides = { left: 'gauche', right: 'droite' }

// No name follows “de” or “à”, which would have to be elided or contracted with it.
const tails: Tails = {
  onto: ' sur {street}',
  ontoThen: ' sur {begin}. Continuez sur {street}',
  stayOn: ' pour rester sur {street}',
  toward: ' vers {sign}',
  branch: ' vers {branch}',
}

// What leads to a number or route already says “vers”; where both are told, the places are a direction.
const ways: Tails = { ...tails, branch: ' pour {branch}', toward: ', direction {sign}' }

const exits = { counted: ' et prenez la {ordinal} sortie', any: ' et prenez la sortie' }

/** French. */
export const frFR: Phrases = {
  tag: 'fr-FR',
  decimal: ',',
  cardinals: ['le nord', 'le nord-est', "l'est", 'le sud-est', 'le sud', 'le sud-ouest', "l'ouest", 'le nord-ouest'],
  ordinals: [
    'première',
    'deuxième',
    'troisième',
    'quatrième',
    'cinquième',
    'sixième',
    'septième',
    'huitième',
    'neuvième',
    'dixième',
  ],
  unnamed: { walkway: "l'allée piétonne", cycleway: 'la piste cyclable', crosswalk: 'le passage piéton' },
  approach: 'Dans {length}, {alert}',
  lengths: {
    kilometers: { one: '{n} kilomètre', other: '{n} kilomètres' },
    kilometer: '1 kilomètre',
    meters: '{n} mètres',
    fewMeters: 'moins de 10 mètres',
    miles: { one: '{n} mile', other: '{n} miles' },
    mile: '1 mile',
    halfMile: 'un demi-mile',
    quarterMile: 'un quart de mile',
    feet: '{n} pieds',
    fewFeet: 'moins de 10 pieds',
  },
  start: {
    drive: {
      plain: 'Roulez vers {cardinal}.',
      on: 'Roulez vers {cardinal} sur {street}.',
      onThen: 'Roulez vers {cardinal} sur {begin}. Continuez sur {street}.',
    },
    bicycle: {
      plain: 'Pédalez vers {cardinal}.',
      on: 'Pédalez vers {cardinal} sur {street}.',
      onThen: 'Pédalez vers {cardinal} sur {begin}. Continuez sur {street}.',
    },
    pedestrian: {
      plain: 'Marchez vers {cardinal}.',
      on: 'Marchez vers {cardinal} sur {street}.',
      onThen: 'Marchez vers {cardinal} sur {begin}. Continuez sur {street}.',
    },
  },
  destination: {
    ...sides,
    plain: 'Vous êtes arrivé à destination.',
    at: 'Vous êtes arrivé à destination : {destination}.',
    side: 'Votre destination est sur la {side}.',
    atSide: '{destination} est sur la {side}.',
  },
  destinationAhead: {
    ...sides,
    plain: 'Vous arriverez à destination.',
    at: 'Vous arriverez à destination : {destination}.',
    side: 'Votre destination sera sur la {side}.',
    atSide: '{destination} sera sur la {side}.',
  },
  continue: { plain: 'Continuez.', on: 'Continuez sur {street}.', toward: 'Continuez vers {sign}.' },
  bear: turnPhrases('Tournez légèrement à {side}', tails, sides),
  turn: turnPhrases('Tournez à {side}', tails, sides),
  sharp: turnPhrases('Tournez franchement à {side}', tails, sides),
  uturn: {
    ...sides,
    plain: 'Faites demi-tour par la {side}.',
    onto: 'Faites demi-tour par la {side} sur {street}.',
    stayOn: 'Faites demi-tour par la {side} pour rester sur {street}.',
    at: 'Faites demi-tour par la {side} au croisement avec {cross}.',
    atOnto: 'Faites demi-tour par la {side} au croisement avec {cross} et prenez {street}.',
    atStayOn: 'Faites demi-tour par la {side} au croisement avec {cross} pour rester sur {street}.',
    toward: 'Faites demi-tour par la {side} vers {sign}.',
  },
  rampStraight: rampPhrases(
    { plain: 'Continuez tout droit sur la bretelle', name: 'Continuez tout droit sur la bretelle {name}' },
    ways,
  ),
  rampSide: {
    ...sides,
    ...rampPhrases({ plain: 'Prenez la bretelle à {side}', name: 'Prenez la bretelle {name} à {side}' }, ways),
  },
  rampTurn: {
    ...sides,
    ...rampPhrases(
      { plain: 'Tournez à {side} pour prendre la bretelle', name: 'Tournez à {side} pour prendre la bretelle {name}' },
      ways,
    ),
  },
  ramp: rampPhrases({ plain: 'Prenez la bretelle', name: 'Prenez la bretelle {name}' }, ways),
  exit: exitPhrases(
    { plain: 'Prenez la sortie', number: 'Prenez la sortie {number}', name: 'Prenez la sortie {name}' },
    ways,
  ),
  exitSide: {
    ...sides,
    ...exitPhrases(
      {
        plain: 'Prenez la sortie à {side}',
        number: 'Prenez la sortie {number} à {side}',
        name: 'Prenez la sortie {name} à {side}',
      },
      ways,
    ),
  },
  keep: {
    left: 'Serrez à gauche',
    straight: 'Restez tout droit',
    right: 'Serrez à droite',
    plain: "{side} à l'embranchement.",
    number: '{side} pour prendre la sortie {number}.',
    street: '{side} pour prendre {street}.',
    numberStreet: '{side} pour prendre la sortie {number} sur {street}.',
    toward: '{side} vers {sign}.',
    numberToward: '{side} pour prendre la sortie {number}, direction {sign}.',
    streetToward: '{side} pour prendre {street}, direction {sign}.',
    numberStreetToward: '{side} pour prendre la sortie {number} sur {street}, direction {sign}.',
  },
  keepToStay: {
    plain: '{side} pour rester sur {street}.',
    number: '{side}, sortie {number}, pour rester sur {street}.',
    toward: '{side} pour rester sur {street}, direction {sign}.',
    numberToward: '{side}, sortie {number}, pour rester sur {street}, direction {sign}.',
  },
  merge: mergePhrases({ plain: 'Insérez-vous', side: 'Insérez-vous à {side}' }, tails, sides),
  roundabout: roundaboutPhrases('Entrez dans le rond-point', exits, tails),
  namedRoundabout: roundaboutPhrases('Engagez-vous sur {circle}', exits, tails),
  leaveRoundabout: {
    plain: 'Quittez le rond-point.',
    onto: 'Quittez le rond-point sur {street}.',
    ontoThen: 'Quittez le rond-point sur {begin}. Continuez sur {street}.',
    toward: 'Quittez le rond-point vers {sign}.',
  },
  ferry: {
    plain: 'Prenez le ferry.',
    named: 'Embarquez : {street}.',
    labelled: 'Prenez le ferry {street}.',
    toward: 'Prenez le ferry vers {sign}.',
    label: /^(ferry|bac|traversier)\b|\bferry$/iu,
  },
  elevator: "Prenez l'ascenseur.",
  stairs: "Prenez l'escalier.",
  escalator: "Prenez l'escalier mécanique.",
  enterBuilding: { plain: 'Entrez dans le bâtiment.', on: 'Entrez dans le bâtiment et continuez sur {street}.' },
  leaveBuilding: { plain: 'Sortez du bâtiment.', on: 'Sortez du bâtiment et continuez sur {street}.' },
  after: { plain: 'Continuez sur {length}.', on: 'Continuez sur {street} pendant {length}.' },
  followed: { soon: '{cue} Ensuite : {next}', later: '{cue} Ensuite, dans {length} : {next}' },
}
