import { bytesSource, openOsm, type OsmElement, type OsmReader, type OsmTags, writePbf } from '@terrane/osm'

type Random = () => number

const HOURS = ['07:00-19:00', 'Mo-Fr 06:00-10:00', '22:00-06:00', 'Sa,Su', 'Sa 20:00-24:00', 'Jun 07:00-14:00']
const ACCESS_VALUES = 'yes no private destination permissive customers delivery agricultural designated permit'.split(
  ' ',
)
const ACCESS_KEYS = 'access vehicle motor_vehicle motorcar hgv bus psv taxi moped motorcycle bicycle foot'.split(' ')
const SIDES = ['', '', '', ':forward', ':backward']
const SIZES = ['weight>7.5', 'height>3', 'weight>3.5', 'length>=12', 'weight<7.5', 'height<3.5 AND weight<20']
const ROADS = 'residential residential residential tertiary primary service living_street unclassified'.split(' ')
const PATHS = 'footway cycleway path pedestrian track steps busway motorway trunk bridleway'.split(' ')
const LIMITS: readonly (readonly [key: string, values: readonly string[]])[] = [
  ['maxheight', ['2', '3.5', '3.5 m', `11'6"`, 'default']],
  ['maxweight', ['3.5', '7.5 t', '3500 kg', '30']],
  ['maxweightrating', ['3.5', '12']],
  ['maxlength', ['5', '12', '18 m']],
  ['maxwidth', ['2', '2.3']],
  ['maxaxleload', ['4', '8']],
  ['maxgcweight', ['20']],
]
const BARRIERS =
  'gate bollard lift_gate block wall fence yes stile cycle_barrier kissing_gate bus_trap height_restrictor turnstile swing_gate'.split(
    ' ',
  )
const TURNS = 'left_turn right_turn straight_on u_turn'.split(' ')

/** A town of a square of streets that have the tags of the law at random, with barriers and turn restrictions. */
export async function randomTown(random: Random, side = 9): Promise<OsmReader> {
  const pick = <Item>(list: readonly Item[]): Item => list[Math.floor(random() * list.length)]!
  const elements: OsmElement[] = []
  const nodeOf = (x: number, y: number): number => 1 + x + y * side
  const crossing: OsmElement[] = []
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const tags = random() < 0.03 ? barrierTags(random, pick) : {}
      crossing.push({ type: 'node', id: nodeOf(x, y), lon: 9 + x * 0.0007, lat: 47 + y * 0.0005, tags })
    }
  }
  const ways: { id: number; a: number; b: number }[] = []
  let middle = side * side
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      for (const [dx, dy] of [
        [1, 0],
        [0, 1],
      ] as const) {
        if (x + dx >= side || y + dy >= side) continue
        middle++
        const ends = [nodeOf(x, y), nodeOf(x + dx, y + dy)]
        const [a, b] = random() < 0.5 ? (ends as [number, number]) : (ends.toReversed() as [number, number])
        const lon = 9 + (x + dx / 2) * 0.0007
        const lat = 47 + (y + dy / 2) * 0.0005
        const tags = random() < 0.12 ? barrierTags(random, pick) : {}
        crossing.push({ type: 'node', id: middle, lon, lat, tags })
        const id = 1000 + ways.length
        ways.push({ id, a, b })
        elements.push({ type: 'way', id, refs: [a, middle, b], tags: wayTags(random, pick) })
      }
    }
  }
  for (let id = 1; id <= side * side; id++) {
    const at = ways.filter(({ a, b }) => a === id || b === id)
    if (random() > 0.35) continue
    const from = pick(at)
    const to = pick(at)
    const far = to.a === id ? to.b : to.a
    const onward = pick(ways.filter(({ a, b }) => a === far || b === far))
    const isOverWay = random() < 0.3 && from !== to && onward !== to
    elements.push({
      type: 'relation',
      id,
      members: [
        { type: 'way', ref: from.id, role: 'from' },
        isOverWay ? { type: 'way', ref: to.id, role: 'via' } : { type: 'node', ref: id, role: 'via' },
        { type: 'way', ref: isOverWay ? onward.id : to.id, role: 'to' },
      ],
      tags: restrictionTags(random, pick, isOverWay),
    })
  }
  return openOsm(bytesSource(Buffer.concat([...writePbf([...crossing, ...elements])])))
}

type Pick = <Item>(list: readonly Item[]) => Item

function wayTags(random: Random, pick: Pick): OsmTags {
  const highway = random() < 0.12 ? pick(PATHS) : pick(ROADS)
  const tags: Record<string, string> = { highway }
  if (random() < 0.15) tags.oneway = pick(['yes', 'yes', '-1', 'no', 'reversible'])
  if (random() < 0.05)
    tags[`oneway:${pick(['bicycle', 'bus', 'psv', 'motor_vehicle', 'hgv', 'foot'])}`] = pick(['yes', 'no'])
  if (random() < 0.05) tags['oneway:conditional'] = `${pick(['yes', 'no', '-1'])} @ (${pick(HOURS)})`
  while (random() < 0.25) tags[`${pick(ACCESS_KEYS)}${pick(SIDES)}`] = pick(ACCESS_VALUES)
  while (random() < 0.12)
    tags[`${pick(ACCESS_KEYS)}${pick(SIDES)}:conditional`] = conditional(random, pick, ACCESS_VALUES)
  while (random() < 0.1) {
    const [key, values] = pick(LIMITS)
    tags[`${key}${pick(SIDES)}`] = pick(values)
    if (random() < 0.3)
      tags[`${key}:conditional`] = `${pick(['none', '10', '2'])} @ (${pick(['destination', ...HOURS])})`
  }
  if (random() < 0.03) tags.motorroad = 'yes'
  if (random() < 0.03) tags.hov = 'designated'
  if (random() < 0.03) tags.hazmat = 'no'
  if (random() < 0.03) tags['vehicle:lanes'] = 'no|no'
  if (random() < 0.03) tags.junction = 'roundabout'
  return tags
}

function conditional(random: Random, pick: Pick, values: readonly string[]): string {
  const one = (): string => {
    const draw = random()
    const conditions =
      draw < 0.45
        ? pick(HOURS)
        : draw < 0.75
          ? pick(SIZES)
          : draw < 0.9
            ? 'destination'
            : `${pick(SIZES)} AND ${pick(HOURS)}`
    return `${pick(values)} @ (${conditions})`
  }
  return random() < 0.2 ? `${one()}; ${one()}` : one()
}

function barrierTags(random: Random, pick: Pick): OsmTags {
  const tags: Record<string, string> = { barrier: pick(BARRIERS) }
  while (random() < 0.4) tags[pick(ACCESS_KEYS)] = pick(ACCESS_VALUES)
  if (random() < 0.2) tags[`${pick(ACCESS_KEYS)}:conditional`] = conditional(random, pick, ACCESS_VALUES)
  if (random() < 0.2) tags.opening_hours = pick(HOURS)
  if (random() < 0.2) tags.maxheight = pick(['2', '3.5'])
  return tags
}

function restrictionTags(random: Random, pick: Pick, isOverWay: boolean): OsmTags {
  const value = `${random() < 0.7 || isOverWay ? 'no' : 'only'}_${pick(TURNS)}`
  const tags: Record<string, string> = { type: 'restriction' }
  const vehicle = pick(['', '', '', ':hgv', ':bus', ':bicycle', ':motorcar', ':foot'])
  if (random() < 0.6) tags[`restriction${vehicle}`] = value
  else tags[`restriction${vehicle}:conditional`] = conditional(random, pick, [value])
  if (random() < 0.2) tags.except = pick(['bus', 'psv', 'bicycle', 'hgv;bicycle', 'motorcar'])
  if (random() < 0.2 && vehicle !== '') tags.restriction = `no_${pick(TURNS)}`
  return tags
}
