import type { Phrases } from '../phrases.ts'
import { exitPhrases, mergePhrases, rampPhrases, roundaboutPhrases, type Tails, turnPhrases } from './compose.ts'

const sides = { left: 'esquerda', right: 'direita' }

// “Em” and “sentido” stand before names of either gender as they are, with no article to be joined.
const tails: Tails = {
  onto: ' em {street}',
  ontoThen: ' em {begin}. Continue em {street}',
  stayOn: ' para continuar em {street}',
  toward: ', sentido {sign}',
  branch: ' para {branch}',
}

const exits = { counted: ' e pegue a {ordinal} saída', any: ' e pegue a saída' }

/** Portuguese as in Brazil. */
export const ptBR: Phrases = {
  tag: 'pt-BR',
  decimal: ',',
  cardinals: ['o norte', 'o nordeste', 'o leste', 'o sudeste', 'o sul', 'o sudoeste', 'o oeste', 'o noroeste'],
  ordinals: ['primeira', 'segunda', 'terceira', 'quarta', 'quinta', 'sexta', 'sétima', 'oitava', 'nona', 'décima'],
  unnamed: { walkway: 'caminho de pedestres', cycleway: 'ciclovia', crosswalk: 'faixa de pedestres' },
  approach: 'Em {length}, {alert}',
  lengths: {
    kilometers: { one: '{n} quilômetro', other: '{n} quilômetros' },
    kilometer: '1 quilômetro',
    meters: '{n} metros',
    fewMeters: 'menos de 10 metros',
    miles: { one: '{n} milha', other: '{n} milhas' },
    mile: '1 milha',
    halfMile: 'meia milha',
    quarterMile: 'um quarto de milha',
    feet: '{n} pés',
    fewFeet: 'menos de 10 pés',
  },
  start: {
    drive: {
      plain: 'Dirija para {cardinal}.',
      on: 'Dirija para {cardinal} em {street}.',
      onThen: 'Dirija para {cardinal} em {begin}. Continue em {street}.',
    },
    bicycle: {
      plain: 'Pedale para {cardinal}.',
      on: 'Pedale para {cardinal} em {street}.',
      onThen: 'Pedale para {cardinal} em {begin}. Continue em {street}.',
    },
    pedestrian: {
      plain: 'Caminhe para {cardinal}.',
      on: 'Caminhe para {cardinal} em {street}.',
      onThen: 'Caminhe para {cardinal} em {begin}. Continue em {street}.',
    },
  },
  destination: {
    ...sides,
    plain: 'Você chegou ao seu destino.',
    at: 'Você chegou ao seu destino: {destination}.',
    side: 'Seu destino está à {side}.',
    atSide: '{destination} está à {side}.',
  },
  destinationAhead: {
    ...sides,
    plain: 'Você chegará ao seu destino.',
    at: 'Você chegará ao seu destino: {destination}.',
    side: 'Seu destino estará à {side}.',
    atSide: '{destination} estará à {side}.',
  },
  continue: { plain: 'Continue.', on: 'Continue em {street}.', toward: 'Continue, sentido {sign}.' },
  bear: turnPhrases('Vire levemente à {side}', tails, sides),
  turn: turnPhrases('Vire à {side}', tails, sides),
  sharp: turnPhrases('Faça uma curva fechada à {side}', tails, sides),
  uturn: {
    ...sides,
    plain: 'Faça o retorno à {side}.',
    onto: 'Faça o retorno à {side} em {street}.',
    stayOn: 'Faça o retorno à {side} para continuar em {street}.',
    at: 'Faça o retorno à {side} no cruzamento com {cross}.',
    atOnto: 'Faça o retorno à {side} no cruzamento com {cross} e siga em {street}.',
    atStayOn: 'Faça o retorno à {side} no cruzamento com {cross} para continuar em {street}.',
    toward: 'Faça o retorno à {side}, sentido {sign}.',
  },
  rampStraight: rampPhrases(
    { plain: 'Siga em frente e pegue a alça de acesso', name: 'Siga em frente e pegue a alça de acesso {name}' },
    tails,
  ),
  rampSide: {
    ...sides,
    ...rampPhrases({ plain: 'Pegue a alça de acesso à {side}', name: 'Pegue a alça de acesso {name} à {side}' }, tails),
  },
  rampTurn: {
    ...sides,
    ...rampPhrases(
      { plain: 'Vire à {side} e pegue a alça de acesso', name: 'Vire à {side} e pegue a alça de acesso {name}' },
      tails,
    ),
  },
  ramp: rampPhrases({ plain: 'Pegue a alça de acesso', name: 'Pegue a alça de acesso {name}' }, tails),
  exit: exitPhrases({ plain: 'Pegue a saída', number: 'Pegue a saída {number}', name: 'Pegue a saída {name}' }, tails),
  exitSide: {
    ...sides,
    ...exitPhrases(
      {
        plain: 'Pegue a saída à {side}',
        number: 'Pegue a saída {number} à {side}',
        name: 'Pegue a saída {name} à {side}',
      },
      tails,
    ),
  },
  keep: {
    left: 'Mantenha-se à esquerda',
    straight: 'Siga em frente',
    right: 'Mantenha-se à direita',
    plain: '{side} na bifurcação.',
    number: '{side} e pegue a saída {number}.',
    street: '{side} e pegue {street}.',
    numberStreet: '{side} e pegue a saída {number} para {street}.',
    toward: '{side}, sentido {sign}.',
    numberToward: '{side} e pegue a saída {number}, sentido {sign}.',
    streetToward: '{side} e pegue {street}, sentido {sign}.',
    numberStreetToward: '{side} e pegue a saída {number} para {street}, sentido {sign}.',
  },
  keepToStay: {
    plain: '{side} para continuar em {street}.',
    number: '{side}, saída {number}, para continuar em {street}.',
    toward: '{side} para continuar em {street}, sentido {sign}.',
    numberToward: '{side}, saída {number}, para continuar em {street}, sentido {sign}.',
  },
  merge: mergePhrases(
    { plain: 'Entre na via', side: 'Entre na via pela {side}' },
    { ...tails, onto: ': {street}' },
    sides,
  ),
  roundabout: roundaboutPhrases('Entre na rotatória', exits, tails),
  namedRoundabout: roundaboutPhrases('Entre em {circle}', exits, tails),
  leaveRoundabout: {
    plain: 'Saia da rotatória.',
    onto: 'Saia da rotatória em {street}.',
    ontoThen: 'Saia da rotatória em {begin}. Continue em {street}.',
    toward: 'Saia da rotatória, sentido {sign}.',
  },
  ferry: {
    plain: 'Pegue a balsa.',
    named: 'Embarque: {street}.',
    labelled: 'Pegue a balsa {street}.',
    toward: 'Pegue a balsa, sentido {sign}.',
    label: /^(balsa|ferry)\b|\bferry$/iu,
  },
  elevator: 'Pegue o elevador.',
  stairs: 'Use a escada.',
  escalator: 'Use a escada rolante.',
  enterBuilding: { plain: 'Entre no edifício.', on: 'Entre no edifício e continue em {street}.' },
  leaveBuilding: { plain: 'Saia do edifício.', on: 'Saia do edifício e continue em {street}.' },
  after: { plain: 'Continue por {length}.', on: 'Continue em {street} por {length}.' },
  followed: { soon: '{cue} Depois: {next}', later: '{cue} Depois, em {length}: {next}' },
}
