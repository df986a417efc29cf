import { bytesSource, openOsm, type OsmElement, type OsmReader, type OsmTags, writePbf } from '@terrane/osm'

import { buildNetwork, type Network, Router, type Trip, type TripManeuver } from '../../src/index.ts'
import { decodeShape } from './compare.ts'
import { Kind } from '../../src/guide/maneuver.ts'

/** A turn restriction by the letters of its members: ways by their whole word, a node by its letter. */
export interface DrawnRestriction {
  readonly from: string | readonly string[]
  readonly via: string | readonly string[]
  readonly to: string | readonly string[]
  readonly tags: OsmTags
}

/** A map: nodes are letters, places to route from and to are digits, lines are there for the reader only. */
export interface Drawing {
  readonly map: string
  /** Tags of each way by the letters of its nodes, in their order. */
  readonly ways: Readonly<Record<string, OsmTags>>
  readonly nodes?: Readonly<Record<string, OsmTags>>
  readonly restrictions?: readonly DrawnRestriction[]
  /** Metres from one column to the next; a row is twice that. */
  readonly meters?: number
  /** Where the first column of the first line is: in Germany by default. */
  readonly origin?: { readonly lon: number; readonly lat: number }
  /** The side to drive on, the right by default; `country` builds by the countries of the ways. */
  readonly drivingSide?: 'left' | 'right' | 'country'
  /** Streets under construction are kept. */
  readonly construction?: boolean
}

const GERMANY = { lon: 11, lat: 48 }
const METERS_PER_DEGREE = 111_195

/** Where the letters and digits of a drawing are. */
export type Places = ReadonlyMap<string, { readonly lon: number; readonly lat: number }>

/** A street network drawn with letters, in the manner of Valhalla's own tests, to route on. */
export class AsciiTown {
  readonly reader: OsmReader
  readonly network: Network
  readonly #router: Router
  readonly #places: Places

  constructor(reader: OsmReader, network: Network, places: Places) {
    this.reader = reader
    this.network = network
    this.#router = new Router(network)
    // A closed router answers as one whose hierarchies for options are not ready, and starts no thread.
    void this.#router.close()
    this.#places = places
  }

  /** Where a letter or digit is, as a location of a request. */
  at(place: string): { lon: number; lat: number } {
    const found = this.#places.get(place)
    if (found === undefined) throw new Error(`there is no ${place} on the map`)
    return found
  }

  /**
   * Routes between places, one character each.
   *
   * @param more other members of the request; `stop` is the type of the places between
   */
  route(places: string, more: Readonly<Record<string, unknown>> & { stop?: string } = {}): AsciiRoute {
    const { stop = 'break', ...rest } = more
    const locations = Array.from(places, (place, i) => ({
      ...this.at(place),
      type: i > 0 && i < places.length - 1 ? stop : 'break',
    }))
    return this.answer(locations, rest)
  }

  /** A matrix between places, one character each. */
  matrix(
    from: string,
    to: string,
    more: Readonly<Record<string, unknown>>,
  ): { sources_to_targets: { time: number }[][] } {
    const places = (letters: string) => Array.from(letters, (letter) => this.at(letter))
    const request = { sources: places(from), targets: places(to), costing: 'auto', ...more }
    return JSON.parse(this.#router.answer(JSON.stringify(request), 'sources_to_targets').body) as never
  }

  /** Routes over locations as a request has them. */
  answer(
    locations: readonly Readonly<Record<string, unknown>>[],
    more: Readonly<Record<string, unknown>> = {},
  ): AsciiRoute {
    const { trip } = this.#router.route({ locations, costing: 'auto', ...more })
    return new AsciiRoute(trip, this.#places)
  }
}

const KIND_NAMES = new Map(Object.entries(Kind).map(([name, kind]) => [kind as number, name]))

/** A route on a drawn map, in the terms of the drawing. */
export class AsciiRoute {
  readonly trip: Trip
  readonly #places: Places

  constructor(trip: Trip, places: Places) {
    this.trip = trip
    this.#places = places
  }

  /** The letters that the route passes, of each leg, with digits where it begins and ends at one. */
  get path(): string {
    const legs = this.trip.legs.map(({ shape }) => {
      const letters = decodeShape(shape).map(([lon, lat]) => this.#letterAt(lon, lat))
      return letters.filter((letter, i) => letter !== '' && letter !== letters[i - 1]).join('')
    })
    return legs.join(' ')
  }

  get maneuvers(): TripManeuver[] {
    return this.trip.legs.flatMap(({ maneuvers = [] }) => maneuvers)
  }

  /** Names of the kinds of maneuvers. */
  get kinds(): string[] {
    return this.maneuvers.map(({ type }) => KIND_NAMES.get(type)!)
  }

  get instructions(): string[] {
    return this.maneuvers.map(({ instruction }) => instruction)
  }

  #letterAt(lon: number, lat: number): string {
    for (const [letter, place] of this.#places) {
      if (Math.abs(place.lon - lon) < 2e-6 && Math.abs(place.lat - lat) < 2e-6) return letter
    }
    return ''
  }
}

/**
 * The elements of a drawing; nodes that no way has are left out.
 *
 * @param drawing with the number that its ids begin at, for several on one map
 */
export function drawnElements({
  map,
  ways,
  nodes = {},
  restrictions = [],
  meters = 20,
  origin = GERMANY,
  firstId = 0,
}: Drawing & { readonly firstId?: number }): {
  elements: OsmElement[]
  places: Places
} {
  const places = new Map<string, { lon: number; lat: number }>()
  const metersPerDegreeLon = METERS_PER_DEGREE * Math.cos((origin.lat * Math.PI) / 180)
  map.split('\n').forEach((line, row) => {
    for (const [column, letter] of line.split('').entries()) {
      if (!/[A-Za-z0-9]/.test(letter)) continue
      if (places.has(letter)) throw new Error(`${letter} is on the map twice`)
      places.set(letter, {
        lon: round7(origin.lon + (column * meters) / metersPerDegreeLon),
        lat: round7(origin.lat - (row * 2 * meters) / METERS_PER_DEGREE),
      })
    }
  })
  const letters = [...new Set(Object.keys(ways).join(''))].toSorted((a, b) => idOf(a) - idOf(b))
  const wayId = (word: string): number => {
    const at = Object.keys(ways).indexOf(word)
    if (at < 0) throw new Error(`there is no way ${word}`)
    return firstId + at + 1
  }
  const elements: OsmElement[] = letters.map((letter) => ({
    type: 'node',
    id: firstId + idOf(letter),
    ...places.get(letter)!,
    tags: nodes[letter] ?? {},
  }))
  for (const [word, tags] of Object.entries(ways)) {
    elements.push({ type: 'way', id: wayId(word), refs: Array.from(word, (letter) => firstId + idOf(letter)), tags })
  }
  for (const [i, { from, via, to, tags }] of restrictions.entries()) {
    const vias =
      typeof via === 'string'
        ? [{ type: 'node' as const, ref: firstId + idOf(via) }]
        : via.map((word) => ({ type: 'way' as const, ref: wayId(word) }))
    elements.push({
      type: 'relation',
      id: firstId + i + 1,
      members: [
        ...[from].flat().map((word) => ({ type: 'way' as const, ref: wayId(word), role: 'from' })),
        ...vias.map((member) => ({ ...member, role: 'via' })),
        ...[to].flat().map((word) => ({ type: 'way' as const, ref: wayId(word), role: 'to' })),
      ],
      tags: { type: 'restriction', ...tags },
    })
  }
  return { elements, places }
}

/** Builds the network of a drawing. */
export async function drawTown(drawing: Drawing): Promise<AsciiTown> {
  const { elements, places } = drawnElements(drawing)
  const reader = await openOsm(bytesSource(Buffer.concat([...writePbf(elements)])))
  const { drivingSide = 'right', construction = false } = drawing
  const network = await buildNetwork([reader], { construction, ...(drivingSide !== 'country' && { drivingSide }) })
  return new AsciiTown(reader, network, places)
}

function idOf(letter: string): number {
  return letter.codePointAt(0)!
}

function round7(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7
}
