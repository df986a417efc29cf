import type { OsmTags } from '@terrane/osm'

import type { Mode } from '../../src/index.ts'
import type { DrawnRestriction } from '../support/ascii-map.ts'

/** A behaviour on a drawn map, and its requests. */
export interface Scenario {
  readonly behaviour: string
  readonly map: string
  readonly ways: Readonly<Record<string, OsmTags>>
  readonly nodes?: Readonly<Record<string, OsmTags>>
  readonly restrictions?: readonly DrawnRestriction[]
  /** Metres from one column to the next; a row is twice that. */
  readonly meters?: number
  /** So many streets in each direction around, not connected with the drawing: a town. */
  readonly grid?: number
  readonly asks: readonly Ask[]
}

/** A route over places, one character each; by car by default. */
export interface Ask {
  readonly go: string
  readonly costing?: Mode
  /** Options of the costing. */
  readonly options?: Readonly<Record<string, unknown>>
  /** Members of all locations beside their position. */
  readonly at?: Readonly<Record<string, unknown>>
  /** Other members of the request. */
  readonly more?: Readonly<Record<string, unknown>>
  /** Type of the locations between. */
  readonly stop?: string
}

/** The same way by each of several costings. */
export function by(costings: readonly Mode[], go: string, more: Omit<Ask, 'go' | 'costing'> = {}): Ask[] {
  return costings.map((costing) => ({ go, costing, ...more }))
}

export const MOTOR = ['auto', 'truck', 'bus', 'taxi', 'motorcycle', 'motor_scooter'] as const satisfies Mode[]
export const ALL = [...MOTOR, 'bicycle', 'pedestrian'] as const satisfies Mode[]

export const residential: OsmTags = { highway: 'residential' }
export const service: OsmTags = { highway: 'service' }
export const secondary: OsmTags = { highway: 'secondary' }
export const primary: OsmTags = { highway: 'primary' }
export const motorway: OsmTags = { highway: 'motorway', oneway: 'yes' }
export const named = (tags: OsmTags, name: string): OsmTags => ({ ...tags, name })
