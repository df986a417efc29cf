const FIRST = 'stops.txt'
const OTHERS = ['agency.txt', 'routes.txt', 'trips.txt', 'stop_times.txt']
const IDENTIFIERS = [
  'agency_id',
  'stop_id',
  'parent_station',
  'from_stop_id',
  'to_stop_id',
  'stop_code',
  'zone_id',
  'level_id',
  'platform_code',
  'route_id',
  'from_route_id',
  'to_route_id',
  'route_short_name',
  'route_color',
  'route_text_color',
  'trip_id',
  'from_trip_id',
  'to_trip_id',
  'trip_short_name',
  'block_id',
  'service_id',
  'shape_id',
  'fare_id',
  'pathway_id',
  'arrival_time',
  'departure_time',
]

/** Identifiers of GTFS are texts in all tables, and times may exceed 24 hours. */
export const TIMETABLE_TYPES: Readonly<Record<string, 'text'>> = Object.fromEntries(
  IDENTIFIERS.map((name) => [name, 'text']),
)

/** Whether files are the tables of a timetable in GTFS. */
export function isTimetable(names: readonly string[]): boolean {
  return names.includes(FIRST) && OTHERS.some((name) => names.includes(name))
}
