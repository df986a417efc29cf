import type { Warning } from '../request/problems.ts'
import type { LineString } from './geometry.ts'

/** An answer with a route: the best one, and alternates when there are any. */
export interface RouteResponse {
  readonly trip: Trip
  readonly alternates?: readonly { readonly trip: Trip }[]
  readonly id?: string
}

export interface Trip {
  readonly locations: readonly TripLocation[]
  readonly legs: readonly TripLeg[]
  readonly summary: Summary
  readonly status_message: string
  readonly status: number
  readonly units: 'kilometers' | 'miles'
  readonly language: string
  readonly warnings?: readonly Warning[]
}

export interface TripLocation {
  readonly type: string
  readonly lat: number
  readonly lon: number
  readonly name?: string
  readonly street?: string
  readonly heading?: number
  readonly date_time?: string
  readonly time_zone_offset?: string
  readonly time_zone_name?: string
  readonly waiting?: number
  readonly side_of_street?: 'left' | 'right'
  readonly original_index: number
}

/** Times are seconds, lengths are in the units of the answer. */
export interface Summary {
  readonly has_time_restrictions: boolean
  readonly has_toll: boolean
  readonly has_highway: boolean
  readonly has_ferry: boolean
  readonly min_lat: number
  readonly min_lon: number
  readonly max_lat: number
  readonly max_lon: number
  readonly time: number
  readonly length: number
  readonly cost: number
  /** Countries and borders of a leg, if the request asks for them. */
  readonly admins?: readonly object[]
  readonly admin_crossings?: readonly object[]
  /** Seconds under another requested costing; null when it may not travel the route. */
  readonly [recosted: `time_${string}`]: number | null
}

export interface TripLeg {
  readonly maneuvers?: readonly TripManeuver[]
  readonly summary: Summary
  /** A polyline with six decimals, unless the request selects another form or none. */
  readonly shape?: string | LineString
}

export interface TripManeuver {
  readonly type: number
  readonly instruction: string
  readonly verbal_transition_alert_instruction?: string
  readonly verbal_succinct_transition_instruction?: string
  readonly verbal_pre_transition_instruction?: string
  readonly verbal_post_transition_instruction?: string
  readonly street_names?: readonly string[]
  readonly begin_street_names?: readonly string[]
  readonly bearing_before?: number
  readonly bearing_after?: number
  readonly time: number
  readonly length: number
  readonly cost: number
  readonly begin_shape_index: number
  readonly end_shape_index: number
  readonly toll?: boolean
  readonly highway?: boolean
  readonly ferry?: boolean
  readonly rough?: boolean
  readonly sign?: TripSign
  readonly roundabout_exit_count?: number
  readonly [recosted: `time_${string}`]: number | null
  readonly verbal_multi_cue?: boolean
  readonly travel_mode: string
  readonly travel_type: string
}

export interface TripSign {
  readonly exit_number_elements?: readonly SignElement[]
  readonly exit_branch_elements?: readonly SignElement[]
  readonly exit_toward_elements?: readonly SignElement[]
  readonly exit_name_elements?: readonly SignElement[]
}

export interface SignElement {
  readonly text: string
  readonly consecutive_count?: number
}
