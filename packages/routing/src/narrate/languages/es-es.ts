import type { Phrases } from '../phrases.ts'
import { exitPhrases, mergePhrases, rampPhrases, roundaboutPhrases, type Tails, turnPhrases } from './compose.ts'

const sides = { left: 'izquierda', right: 'derecha' }

const tails: Tails = {
  onto: ' por {street}',
  ontoThen: ' por {begin}. Continúe por {street}',
  stayOn: ' para seguir por {street}',
  toward: ' hacia {sign}',
  branch: ' a {branch}',
}

// An exit or a ramp leads to a road and points in a direction.
const ways: Tails = { ...tails, toward: ' en dirección {sign}' }

const exits = { counted: ' y tome la {ordinal} salida', any: ' y tome la salida' }

/** Spanish. */
export const esES: Phrases = {
  tag: 'es-ES',
  decimal: ',',
  cardinals: ['el norte', 'el noreste', 'el este', 'el sureste', 'el sur', 'el suroeste', 'el oeste', 'el noroeste'],
  ordinals: ['primera', 'segunda', 'tercera', 'cuarta', 'quinta', 'sexta', 'séptima', 'octava', 'novena', 'décima'],
  unnamed: { walkway: 'el camino peatonal', cycleway: 'el carril bici', crosswalk: 'el paso de peatones' },
  approach: 'En {length}, {alert}',
  lengths: {
    kilometers: '{n} kilómetros',
    kilometer: '1 kilómetro',
    meters: '{n} metros',
    fewMeters: 'menos de 10 metros',
    miles: '{n} millas',
    mile: '1 milla',
    halfMile: 'media milla',
    quarterMile: 'un cuarto de milla',
    feet: '{n} pies',
    fewFeet: 'menos de 10 pies',
  },
  start: {
    drive: {
      plain: 'Conduzca hacia {cardinal}.',
      on: 'Conduzca hacia {cardinal} por {street}.',
      onThen: 'Conduzca hacia {cardinal} por {begin}. Continúe por {street}.',
    },
    bicycle: {
      plain: 'Pedalee hacia {cardinal}.',
      on: 'Pedalee hacia {cardinal} por {street}.',
      onThen: 'Pedalee hacia {cardinal} por {begin}. Continúe por {street}.',
    },
    pedestrian: {
      plain: 'Camine hacia {cardinal}.',
      on: 'Camine hacia {cardinal} por {street}.',
      onThen: 'Camine hacia {cardinal} por {begin}. Continúe por {street}.',
    },
  },
  destination: {
    ...sides,
    plain: 'Ha llegado a su destino.',
    at: 'Ha llegado a su destino: {destination}.',
    side: 'Su destino está a la {side}.',
    atSide: '{destination} está a la {side}.',
  },
  destinationAhead: {
    ...sides,
    plain: 'Llegará a su destino.',
    at: 'Llegará a su destino: {destination}.',
    side: 'Su destino estará a la {side}.',
    atSide: '{destination} estará a la {side}.',
  },
  continue: { plain: 'Continúe.', on: 'Continúe por {street}.', toward: 'Continúe hacia {sign}.' },
  bear: turnPhrases('Gire ligeramente a la {side}', tails, sides),
  turn: turnPhrases('Gire a la {side}', tails, sides),
  sharp: turnPhrases('Haga un giro cerrado a la {side}', tails, sides),
  uturn: {
    ...sides,
    plain: 'Cambie de sentido por la {side}.',
    onto: 'Cambie de sentido por la {side} y tome {street}.',
    stayOn: 'Cambie de sentido por la {side} para seguir por {street}.',
    at: 'Cambie de sentido por la {side} en el cruce con {cross}.',
    atOnto: 'Cambie de sentido por la {side} en el cruce con {cross} y tome {street}.',
    atStayOn: 'Cambie de sentido por la {side} en el cruce con {cross} para seguir por {street}.',
    toward: 'Cambie de sentido por la {side} hacia {sign}.',
  },
  rampStraight: rampPhrases(
    { plain: 'Siga recto por la vía de acceso', name: 'Siga recto por la vía de acceso {name}' },
    ways,
  ),
  rampSide: {
    ...sides,
    ...rampPhrases(
      { plain: 'Tome la vía de acceso de la {side}', name: 'Tome la vía de acceso {name} de la {side}' },
      ways,
    ),
  },
  rampTurn: {
    ...sides,
    ...rampPhrases(
      {
        plain: 'Gire a la {side} para tomar la vía de acceso',
        name: 'Gire a la {side} para tomar la vía de acceso {name}',
      },
      ways,
    ),
  },
  ramp: rampPhrases({ plain: 'Tome la vía de acceso', name: 'Tome la vía de acceso {name}' }, ways),
  exit: exitPhrases(
    { plain: 'Tome la salida', number: 'Tome la salida {number}', name: 'Tome la salida {name}' },
    ways,
  ),
  exitSide: {
    ...sides,
    ...exitPhrases(
      {
        plain: 'Tome la salida de la {side}',
        number: 'Tome la salida {number} de la {side}',
        name: 'Tome la salida {name} de la {side}',
      },
      ways,
    ),
  },
  keep: {
    left: 'Manténgase a la izquierda',
    straight: 'Siga recto',
    right: 'Manténgase a la derecha',
    plain: '{side} en la bifurcación.',
    number: '{side} para tomar la salida {number}.',
    street: '{side} para tomar {street}.',
    numberStreet: '{side} para tomar la salida {number} a {street}.',
    toward: '{side} hacia {sign}.',
    numberToward: '{side} para tomar la salida {number} en dirección {sign}.',
    streetToward: '{side} para tomar {street} en dirección {sign}.',
    numberStreetToward: '{side} para tomar la salida {number} a {street} en dirección {sign}.',
  },
  keepToStay: {
    plain: '{side} para seguir por {street}.',
    number: '{side}, salida {number}, para seguir por {street}.',
    toward: '{side} para seguir por {street} en dirección {sign}.',
    numberToward: '{side}, salida {number}, para seguir por {street} en dirección {sign}.',
  },
  merge: mergePhrases(
    { plain: 'Incorpórese', side: 'Incorpórese por la {side}' },
    { ...tails, onto: ' a {street}' },
    sides,
  ),
  roundabout: roundaboutPhrases('Entre en la rotonda', exits, tails),
  namedRoundabout: roundaboutPhrases('Entre en {circle}', exits, tails),
  leaveRoundabout: {
    plain: 'Salga de la rotonda.',
    onto: 'Salga de la rotonda por {street}.',
    ontoThen: 'Salga de la rotonda por {begin}. Continúe por {street}.',
    toward: 'Salga de la rotonda hacia {sign}.',
  },
  ferry: {
    plain: 'Tome el ferry.',
    named: 'Embarque: {street}.',
    labelled: 'Tome el ferry {street}.',
    toward: 'Tome el ferry hacia {sign}.',
    label: /^(ferry|transbordador)\b|\bferry$/iu,
  },
  elevator: 'Tome el ascensor.',
  stairs: 'Tome las escaleras.',
  escalator: 'Tome las escaleras mecánicas.',
  enterBuilding: { plain: 'Entre en el edificio.', on: 'Entre en el edificio y continúe por {street}.' },
  leaveBuilding: { plain: 'Salga del edificio.', on: 'Salga del edificio y continúe por {street}.' },
  after: { plain: 'Continúe durante {length}.', on: 'Continúe por {street} durante {length}.' },
  followed: { soon: '{cue} Después: {next}', later: '{cue} Después, dentro de {length}: {next}' },
}
