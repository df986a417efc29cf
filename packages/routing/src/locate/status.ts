import { boxRing } from '@terrane/core'
import type { Action } from '../actions.ts'
import type { Ground } from '../ground.ts'
import { factsOf } from '../network/network.ts'
import { flagOf, type Json } from '../request/read.ts'
import { degreesOf } from '../respond/numbers.ts'

/** Version of this package, for `status`. */
const VERSION = '0.1.0'

/** Maximum number of listed unread tags. */
const MOST_TAGS = 100

/** Status of a router. */
export interface Status {
  readonly version: string
  /** Seconds since 1970. */
  readonly tileset_last_modified: number
  readonly available_actions: readonly Action[]
  readonly has_tiles?: boolean
  readonly has_admins?: boolean
  readonly has_timezones?: boolean
  readonly has_live_traffic?: boolean
  readonly has_transit_tiles?: boolean
  /** Conditional tags that the graph does not support, the most frequent first. */
  readonly unread_tags?: readonly { readonly tag: string; readonly count: number }[]
  readonly bbox?: Readonly<Record<string, unknown>>
}

/** Actions of this server and age of its data; with `verbose` also the extent of the data. */
export function statusOf({ network, builtAt }: Ground, request: Json, actions: readonly Action[]): Status {
  const brief = {
    version: VERSION,
    tileset_last_modified: builtAt === null ? 0 : Math.floor(builtAt.getTime() / 1000),
    available_actions: actions,
  }
  if (flagOf(request.verbose) !== true) return brief
  return {
    ...brief,
    has_tiles: network.graph.nodeCount > 0,
    has_admins: network.file.meta.drivingSide === 'country',
    has_timezones: true,
    has_live_traffic: false,
    has_transit_tiles: false,
    unread_tags: factsOf(network).unread.slice(0, MOST_TAGS),
    bbox: boxOf(network.graph),
  }
}

/** The box around all nodes, as a collection of one polygon. */
function boxOf({ nodeLon, nodeLat }: { nodeLon: Int32Array; nodeLat: Int32Array }): Readonly<Record<string, unknown>> {
  const ring = boxRing([least(nodeLon), least(nodeLat), most(nodeLon), most(nodeLat)])
  return {
    type: 'FeatureCollection',
    features: [{ type: 'Feature', properties: { id: 1 }, geometry: { type: 'Polygon', coordinates: [ring] } }],
  }
}

function least(values: Int32Array): number {
  return degreesOf(values.reduce((a, b) => Math.min(a, b), Infinity) / 1e7)
}

function most(values: Int32Array): number {
  return degreesOf(values.reduce((a, b) => Math.max(a, b), -Infinity) / 1e7)
}
