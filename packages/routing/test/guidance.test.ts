import { describe, expect, it } from 'vitest'

import { drawTown } from './support/ascii-map.ts'

const street = (name: string) => ({ highway: 'residential', name })

describe('turns are told by their angle', async () => {
  const town = await drawTown({
    map: `
      B   C   D
       \\  |  /
        \\ | /
      H---A---E
        / | \\
       /  |  \\
      G   F   I
    `,
    ways: {
      FA: street('Trunk Street'),
      AB: street('North West Way'),
      AC: street('North Way'),
      AD: street('North East Way'),
      AE: street('East Way'),
      AH: street('West Way'),
      AG: street('South West Way'),
      AI: street('South East Way'),
    },
    meters: 30,
  })

  it.each([
    ['FAE', 'right', 'Turn right onto East Way.'],
    ['FAH', 'left', 'Turn left onto West Way.'],
    ['FAD', 'slightRight', 'Bear right onto North East Way.'],
    ['FAB', 'slightLeft', 'Bear left onto North West Way.'],
    ['FAI', 'sharpRight', 'Make a sharp right onto South East Way.'],
    ['FAG', 'sharpLeft', 'Make a sharp left onto South West Way.'],
  ])('%s is %s', (path, kind, instruction) => {
    const route = town.route(`${path[0]}${path.at(-1)}`)
    expect(route.path).toBe(path)
    expect(route.kinds).toEqual(['start', kind, 'destination'])
    expect(route.instructions[1]).toBe(instruction)
  })

  it('straight on needs no words, whatever the street is called there', () => {
    expect(town.route('FC').path).toBe('FAC')
    expect(town.route('FC').kinds).toEqual(['start', 'destination'])
  })
})

describe('names', async () => {
  const town = await drawTown({
    map: `
      A--B--C--D--E
         |     |
         F     G
    `,
    ways: {
      ABC: street('Old Street'),
      CD: street('New Street'),
      DE: { ...street('New Street'), ref: 'B 7' },
      BF: street('First Lane'),
      DG: street('Second Lane'),
    },
    meters: 40,
  })

  it('a street that goes on under another name or with a number needs no words', () => {
    expect(town.route('AD').kinds).toEqual(['start', 'destination'])
    expect(town.route('CE').kinds).toEqual(['start', 'destination'])
  })

  it('a street onto which one turns is told with the name it has there', () => {
    const route = town.route('FE')
    expect(route.kinds).toEqual(['start', 'right', 'destination'])
    expect(route.instructions[1]).toBe('Turn right onto Old Street.')
  })

  it('tells the destination by its name, or by the street', () => {
    const named = { ...town.at('F'), name: 'Café F' }
    expect(town.route('AF').instructions.at(-1)).toBe('You have arrived at your destination.')
    expect(town.answer([town.at('A'), named]).instructions.at(-1)).toMatch(/Café F/)
  })

  it('speaks the language that was asked for', () => {
    const german = town.route('AF', { language: 'de-DE' })
    expect(german.instructions).toEqual([
      'Fahren Sie auf Old Street nach Osten.',
      'Biegen Sie rechts ab auf First Lane.',
      'Sie haben Ihr Ziel erreicht.',
    ])
    expect(german.trip.language).toBe('de-DE')
    expect(town.route('AF', { language: 'pl' }).instructions[1]).toBe('Skręć w prawo: First Lane.')
    expect(town.route('AF', { language: 'tlh' }).trip.language).toBe('en-US')
  })
})

describe('a roundabout', async () => {
  const ring = { highway: 'primary', junction: 'roundabout', oneway: 'yes' }
  const town = await drawTown({
    map: `
             N
             |
             A
           /   \\
      W---B     D---E
           \\   /
             C
             |
             S
    `,
    // Where one drives on the right, circles run against the clock.
    ways: {
      ABCDA: ring,
      NA: { highway: 'primary', name: 'North Road' },
      WB: { highway: 'primary', name: 'West Road' },
      SC: { highway: 'primary', name: 'South Road' },
      ED: { highway: 'primary', name: 'East Road' },
    },
    meters: 10,
  })

  it.each([
    ['SE', 1, '1st', 'East Road'],
    ['SN', 2, '2nd', 'North Road'],
    ['SW', 3, '3rd', 'West Road'],
    ['NW', 1, '1st', 'West Road'],
    ['EN', 1, '1st', 'North Road'],
  ])('%s leaves by exit %i', (places, count, ordinal, road) => {
    const route = town.route(places)
    expect(route.kinds).toEqual(['start', 'roundaboutEnter', 'roundaboutExit', 'destination'])
    expect(route.maneuvers[1]!.roundabout_exit_count).toBe(count)
    expect(route.instructions[1]).toBe(`Enter the roundabout and take the ${ordinal} exit onto ${road}.`)
    expect(route.instructions[2]).toBe(`Exit the roundabout onto ${road}.`)
  })

  it('is left without more words when these are not asked for', () => {
    const [apart, joined] = [true, false].map((roundabout_exits) => town.route('SE', { roundabout_exits }))
    expect(joined!.kinds).toEqual(['start', 'roundaboutEnter', 'destination'])
    const [, enter, exit] = apart!.maneuvers
    const whole = joined!.maneuvers[1]!
    expect(whole.instruction).toBe(enter!.instruction)
    expect(whole.roundabout_exit_count).toBe(1)
    expect([whole.begin_shape_index, whole.end_shape_index]).toEqual([enter!.begin_shape_index, exit!.end_shape_index])
    expect(whole.time).toBeCloseTo(enter!.time + exit!.time, 2)
    expect(whole.verbal_post_transition_instruction).toBe(exit!.verbal_post_transition_instruction)
  })
})

describe('a sign at a street that is no ramp', async () => {
  const road = (name: string) => ({ highway: 'secondary', name })
  const town = await drawTown({
    map: 'A---B---C\n    |\n    |\n    D',
    ways: {
      AB: road('First Road'),
      BC: road('Second Road'),
      BD: { ...road('Third Road'), oneway: 'yes', destination: 'Harbour' },
    },
    meters: 30,
  })

  it('is told as a sign without exits, and a street without one as nothing', () => {
    expect(town.route('AD').maneuvers[1]!.sign).toEqual({})
    expect(town.route('AC').maneuvers[0]).not.toHaveProperty('sign')
  })
})

describe('a maneuver that is over soon', () => {
  const walk = async (meters: number): Promise<unknown> => {
    const road = (name: string) => ({ highway: 'residential', name })
    const town = await drawTown({
      map: 'A--B\n   |\n   |\nD--C',
      ways: { AB: road('First Lane'), BC: road('Second Lane'), CD: road('Third Lane') },
      meters,
    })
    return town.route('AD', { costing: 'pedestrian' }).maneuvers[1]!.verbal_multi_cue
  }

  it('is spoken of with the next one, in whole seconds', async () => {
    // 17 and 18 metres at 5.1 km/h: 12.0 s, and 12.7 s, which rounded are not less than 13.
    expect(await walk(2.9)).toBe(true)
    expect(await walk(3.05)).toBeUndefined()
  })
})

describe('a roundabout with a name of its own', async () => {
  const road = (name: string) => ({ highway: 'primary', name })
  const town = await drawTown({
    map: `
             N
             |
             A
           /   \\
      W---B     D
           \\   /
             C
             |
             S
    `,
    ways: {
      ABCDA: { ...road('Star Circle'), junction: 'roundabout', oneway: 'yes' },
      NA: road('North Road'),
      WB: road('West Road'),
      SC: road('South Road'),
    },
    meters: 10,
  })

  it.each([
    ['en-US', 'Enter Star Circle and take the 1st exit onto North Road.'],
    ['de-DE', 'Fahren Sie in den Kreisverkehr Star Circle und nehmen Sie die erste Ausfahrt auf North Road.'],
    ['fr-FR', 'Engagez-vous sur Star Circle et prenez la première sortie sur North Road.'],
    ['es-ES', 'Entre en Star Circle y tome la primera salida por North Road.'],
    ['it-IT', 'Entra in Star Circle e prendi la prima uscita su North Road.'],
    ['nl-NL', 'Rijd Star Circle op en neem de eerste afslag naar North Road.'],
    ['pt-BR', 'Entre em Star Circle e pegue a primeira saída em North Road.'],
    ['pl-PL', 'Wjedź na Star Circle i wybierz pierwszy zjazd: North Road.'],
    ['cs-CZ', 'Vjeďte na kruhový objezd Star Circle a vyjeďte prvním výjezdem: North Road.'],
  ])('is called by it in %s', (language, instruction) => {
    expect(town.route('SN', { language }).instructions[1]).toBe(instruction)
  })
})

describe('a motorway', async () => {
  const motorway = { highway: 'motorway', oneway: 'yes', ref: 'A 1', name: 'Long Motorway' }
  const link = { highway: 'motorway_link', oneway: 'yes' }
  const town = await drawTown({
    map: `
      A-------B--------------C-------D
              .            .
               E----------F
                    |
              P-----Q-----R
    `,
    ways: {
      ABCD: motorway,
      BE: { ...link, destination: 'Town;Harbour', 'destination:ref': 'B 12' },
      EF: { highway: 'secondary', name: 'Cross Road' },
      FC: { ...link, destination: 'Far City' },
      EQ: { highway: 'secondary', name: 'Town Road' },
      PQR: { highway: 'secondary', name: 'Harbour Road' },
    },
    nodes: { B: { highway: 'motorway_junction', ref: '12', name: 'Town' } },
    meters: 60,
  })

  it('is left by an exit with its number, branch and places', () => {
    const route = town.route('AP')
    expect(route.kinds.slice(0, 2)).toEqual(['start', 'exitRight'])
    expect(route.instructions[1]).toBe('Take exit 12 onto B 12 toward Town/Harbour.')
    expect(route.maneuvers[1]!.sign).toMatchObject({
      exit_number_elements: [{ text: '12' }],
      exit_branch_elements: [{ text: 'B 12' }],
      exit_toward_elements: [{ text: 'Town' }, { text: 'Harbour' }],
    })
  })

  it('is entered by a ramp with its sign; the merge at its end is part of it', () => {
    const route = town.route('RD')
    expect(route.kinds).toEqual(['start', 'slightRight', 'sharpRight', 'rampLeft', 'destination'])
    expect(route.instructions[3]).toBe('Turn left to take the ramp toward Far City.')
    expect(route.maneuvers[3]!.street_names).toEqual(['A 1', 'Long Motorway'])
  })

  it('is marked as highway', () => {
    const route = town.route('AD')
    expect(route.trip.summary.has_highway).toBe(true)
    expect(route.kinds).toEqual(['start', 'destination'])
  })
})

describe('a fork', async () => {
  const motorway = { highway: 'motorway', oneway: 'yes', lanes: '2' }
  const town = await drawTown({
    map: `
                          C--------D
                    .
      A--------B
                    .
                          E--------F
    `,
    ways: {
      AB: { ...motorway, ref: 'A 1', lanes: '4' },
      BC: { ...motorway, ref: 'A 1', destination: 'North City' },
      CD: { ...motorway, ref: 'A 1' },
      BE: { ...motorway, ref: 'A 2', destination: 'South City' },
      EF: { ...motorway, ref: 'A 2' },
    },
    meters: 100,
  })

  it('of a motorway is told by its side and sign, and by whether one stays on it', () => {
    const left = town.route('AD')
    expect(left.kinds).toEqual(['start', 'stayLeft', 'destination'])
    expect(left.instructions[1]).toBe('Keep left to stay on A 1 toward North City.')
    const right = town.route('AF')
    expect(right.kinds).toEqual(['start', 'stayRight', 'destination'])
    expect(right.instructions[1]).toBe('Keep right toward South City.')
  })
})

describe('ferries', async () => {
  const town = await drawTown({
    map: `
      A---B-----------C---D
      |   |           |   |
      E---F           G---H
    `,
    ways: {
      AB: street('Quay Street'),
      CD: street('Far Street'),
      BC: { route: 'ferry', name: 'Harbour Line', duration: '00:10' },
      AE: street('West Lane'),
      EF: street('South Lane'),
      FB: street('Mole'),
      CG: street('Far Mole'),
      GH: street('Far Lane'),
      HD: street('East Lane'),
    },
    meters: 50,
  })

  it('are told by their name, with what comes after them', () => {
    const route = town.route('AD')
    expect(route.path).toBe('ABCD')
    expect(route.kinds).toEqual(['start', 'ferryEnter', 'ferryExit', 'destination'])
    expect(route.instructions[1]).toBe('Take the Harbour Line Ferry.')
    expect(route.trip.summary.has_ferry).toBe(true)
  })
})

describe('walkers', async () => {
  const town = await drawTown({
    map: `
      A---B===C---D
          |   |
          E   F
    `,
    ways: {
      AB: street('Low Street'),
      BC: { highway: 'steps' },
      CD: street('High Street'),
      BE: { highway: 'footway' },
      CF: { highway: 'cycleway', foot: 'yes' },
    },
    meters: 40,
  })

  it('take stairs, and go on straight after them without more words', () => {
    const route = town.route('AD', { costing: 'pedestrian' })
    expect(route.kinds).toEqual(['start', 'stepsEnter', 'destination'])
    expect(route.instructions[1]).toBe('Take the stairs.')
  })

  it('hear what a path without a name is', () => {
    expect(town.route('AE', { costing: 'pedestrian' }).instructions[1]).toBe('Turn right onto the walkway.')
    expect(town.route('DF', { costing: 'bicycle' }).instructions[1]).toBe('Turn left onto the cycleway.')
  })

  it('take elevators, and are told the way after them', async () => {
    const station = await drawTown({
      map: `
        A--B--C--D
           |
           E
      `,
      ways: {
        AB: { highway: 'footway', name: 'Platform Way' },
        BC: { highway: 'elevator' },
        CD: { highway: 'footway', name: 'Upper Walk' },
        BE: { highway: 'footway' },
      },
    })
    const route = station.route('AD', { costing: 'pedestrian' })
    expect(route.kinds).toEqual(['start', 'elevatorEnter', 'continue', 'destination'])
    expect(route.instructions.slice(1, 3)).toEqual(['Take the elevator.', 'Continue on Upper Walk.'])
  })
})

describe('where two carriageways meet', async () => {
  const oneway = (name: string) => ({ ...street(name), oneway: 'yes' })
  const town = async (back: string) =>
    await drawTown({
      map: `
      C

                  B--E

      A
      `,
      ways: { AB: oneway('Broad Street'), BC: oneway(back), BE: street('Broad Street') },
      meters: 20,
    })

  it.each([
    ['Broad Street', 'uturnLeft'],
    ['Other Street', 'sharpLeft'],
  ])('from Broad Street back along %s is %s', async (back, kind) => {
    const route = (await town(back)).route('AC')
    expect(route.path).toBe('ABC')
    expect(route.kinds).toEqual(['start', kind, 'destination'])
  })
})
