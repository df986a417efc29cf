import { guidedLeg } from '../guide/steps.ts'
import type { Ground } from '../ground.ts'
import type { TripStop } from '../path/legs.ts'
import type { Location } from '../request/location.ts'
import type { Warning } from '../request/problems.ts'
import { writeGeometry } from '../respond/geometry.ts'
import { degreesOf, lengthIn } from '../respond/numbers.ts'
import { localText, offsetText, utcOf, zoneAt } from '../time/zones.ts'
import type { Candidate } from '../snap/candidate.ts'
import type { Cell } from './cells.ts'
import type { MatrixRequest } from './request.ts'

/** Writes a matrix as text, row by row. */
export interface MatrixWriter {
  begin(): string
  row(cells: readonly (Cell | null)[]): string
  end(): string
}

interface Stops {
  readonly sources: readonly TripStop[]
  readonly targets: readonly TripStop[]
}

/** Own warning number, after those of ignored members. */
const NO_PATH = 903

/** The writer of the requested format: Valhalla's verbose one, its short one, or OSRM's. */
export function writerOf(ground: Ground, request: MatrixRequest, stops: Stops): MatrixWriter {
  if (request.format === 'osrm') return new TablesWriter(ground, request, stops, 'osrm')
  return request.verbose ? new CellsWriter(ground, request, stops) : new TablesWriter(ground, request, stops, 'short')
}

/** Common state of the writers: lines, warnings, and the members after the rows. */
class Tail {
  readonly #ground: Ground
  readonly #request: MatrixRequest
  #cells = 0
  #empty = 0

  constructor(ground: Ground, request: MatrixRequest) {
    this.#ground = ground
    this.#request = request
  }

  count(cells: readonly (Cell | null)[]): void {
    this.#cells += cells.length
    for (const cell of cells) if (cell === null) this.#empty++
  }

  /** The line of a cell as JSON. */
  shape(cell: Cell): string {
    if (cell.leg === null) return '""'
    const { graph } = this.#ground.network
    const { mode, options, shapeFormat } = this.#request
    const { costing } = this.#ground.costings.get(mode, options)
    const { line } = guidedLeg({ graph, texts: this.#ground.texts, costing }, cell.leg)
    return JSON.stringify(cell.meters === 0 ? '' : writeGeometry(line, shapeFormat))
  }

  /** Members after the rows, each with a comma before it. */
  members(): string {
    const { units, id, format } = this.#request
    const said = {
      ...(format === 'json' && { units }),
      algorithm: 'costmatrix',
      ...(id !== null && { id }),
      ...(this.#warnings().length > 0 && { warnings: this.#warnings() }),
    }
    return `,${JSON.stringify(said).slice(1)}`
  }

  #warnings(): Warning[] {
    const { warnings, nearest } = this.#request
    if (this.#empty === 0 || nearest !== null) return [...warnings]
    return [...warnings, { code: NO_PATH, text: `${this.#empty} of ${this.#cells} pairs have no path: null` }]
  }
}

/** Valhalla's verbose form, an object for each cell. */
class CellsWriter implements MatrixWriter {
  readonly #ground: Ground
  readonly #request: MatrixRequest
  readonly #stops: Stops
  readonly #tail: Tail
  readonly #shapes: boolean
  /** Heading and place of candidates as JSON, because many cells share them. */
  readonly #places = new Map<Candidate, { readonly begin: string; readonly end: string }>()
  #rows = 0

  constructor(ground: Ground, request: MatrixRequest, stops: Stops) {
    this.#ground = ground
    this.#request = request
    this.#stops = stops
    this.#tail = new Tail(ground, request)
    this.#shapes = request.shapeFormat !== 'no_shape'
  }

  begin(): string {
    return '{"sources_to_targets":['
  }

  row(cells: readonly (Cell | null)[]): string {
    this.#tail.count(cells)
    const from = this.#rows++
    let text = from === 0 ? '[' : ',['
    for (let to = 0; to < cells.length; to++) text += (to === 0 ? '' : ',') + this.#cell(cells[to]!, from, to)
    return `${text}]`
  }

  end(): string {
    return `],"sources":${placed(this.#stops.sources)},"targets":${placed(this.#stops.targets)}${this.#tail.members()}`
  }

  #cell(cell: Cell | null, from: number, to: number): string {
    const begin = `{"from_index":${from},"to_index":${to},`
    if (cell === null) return `${begin}"time":null,"distance":null}`
    const { seconds, meters, origin, destination } = cell
    let text = `${begin}"time":${Math.round(seconds)},"distance":${lengthIn(this.#request.units, meters)}`
    if (this.#request.dateTime !== null) text += this.#moment(from, to, seconds)
    if (meters > 0) text += this.#place(origin).begin + this.#place(destination).end
    if (this.#shapes) text += `,"shape":${this.#tail.shape(cell)}`
    return `${text}}`
  }

  #place(candidate: Candidate): { readonly begin: string; readonly end: string } {
    let place = this.#places.get(candidate)
    if (place === undefined) {
      const heading = Math.round(candidate.heading * 10) / 10
      const [lat, lon] = [degreesOf(candidate.lat), degreesOf(candidate.lon)]
      place = {
        begin: `,"begin_heading":${heading},"begin_lat":${lat},"begin_lon":${lon}`,
        end: `,"end_heading":${heading},"end_lat":${lat},"end_lon":${lon}`,
      }
      this.#places.set(candidate, place)
    }
    return place
  }

  /**
   * Time of arrival at the target, with a requested arrival time of departure from the source; a constant time is
   * unchanged.
   */
  #moment(from: number, to: number, seconds: number): string {
    const { sources, targets, dateTime } = this.#request
    const { type, value } = dateTime!
    const [source, target] = [zoneOf(sources[from]!), zoneOf(targets[to]!)]
    const said = value === 'current' ? this.#ground.now().getTime() : utcOf(value, type === 'arrive' ? target : source)
    const shift = type === 'invariant' ? 0 : type === 'arrive' ? -seconds : seconds
    const [moment, zone] = [said + shift * 1000, type === 'arrive' ? source : target]
    return `,"date_time":"${localText(moment, zone)}","time_zone_offset":"${offsetText(moment, zone)}","time_zone_name":"${zone}"`
  }
}

/** Rows of times and rows of distances: OSRM's form, and Valhalla's short form, which may also have rows of lines. */
class TablesWriter implements MatrixWriter {
  readonly #request: MatrixRequest
  readonly #stops: Stops
  readonly #ground: Ground
  readonly #form: 'short' | 'osrm'
  readonly #tail: Tail
  readonly #shapes: boolean
  /** The rows of distances and lines, which follow those of times. */
  readonly #distances: string[] = []
  readonly #lines: string[] = []
  #rows = 0

  constructor(ground: Ground, request: MatrixRequest, stops: Stops, form: 'short' | 'osrm') {
    this.#ground = ground
    this.#request = request
    this.#stops = stops
    this.#form = form
    this.#tail = new Tail(ground, request)
    this.#shapes = request.shapeFormat !== 'no_shape' && form === 'short'
  }

  begin(): string {
    if (this.#form === 'short') return '{"sources_to_targets":{"durations":['
    const { sources, targets } = this.#stops
    const places = `{"code":"Ok","sources":${this.#waypoints(sources)},"destinations":${this.#waypoints(targets)}`
    return this.#request.tables.durations ? `${places},"durations":[` : places
  }

  row(cells: readonly (Cell | null)[]): string {
    this.#tail.count(cells)
    const before = this.#rows++ === 0 ? '[' : ',['
    const { units } = this.#request
    const distance =
      this.#form === 'osrm'
        ? (meters: number) => Math.round(meters * 10) / 10
        : (meters: number) => lengthIn(units, meters)
    let times = before
    let distances = before
    for (let to = 0; to < cells.length; to++) {
      const cell = cells[to]!
      const comma = to === 0 ? '' : ','
      times += comma + (cell === null ? 'null' : String(Math.round(cell.seconds)))
      distances += comma + (cell === null ? 'null' : String(distance(cell.meters)))
    }
    this.#distances.push(`${distances}]`)
    if (this.#shapes) {
      this.#lines.push(`${before}${cells.map((cell) => (cell === null ? 'null' : this.#tail.shape(cell))).join(',')}]`)
    }
    return this.#hasTimes ? `${times}]` : ''
  }

  end(): string {
    const shapes = this.#shapes ? `,"shapes":[${this.#lines.join('')}]` : ''
    const close = this.#form === 'short' ? '}' : ''
    const times = this.#hasTimes ? ']' : ''
    const hasDistances = this.#form === 'short' || this.#request.tables.distances
    const distances = hasDistances ? `,"distances":[${this.#distances.join('')}]` : ''
    return `${times}${distances}${shapes}${close}${this.#tail.members()}`
  }

  get #hasTimes(): boolean {
    return this.#form === 'short' || this.#request.tables.durations
  }

  #waypoints(stops: readonly TripStop[]): string {
    return JSON.stringify(
      stops.map(({ snapped: { candidates } }) => {
        const { lon, lat, meters, edge } = candidates[0]!
        const [name] = this.#ground.texts.names(edge)
        return {
          location: [degreesOf(lon), degreesOf(lat)],
          name: name?.text ?? '',
          distance: Math.round(meters * 1000) / 1000,
        }
      }),
    )
  }
}

function placeOf({ snapped: { candidates } }: TripStop): { lat: number; lon: number } {
  const { lon, lat } = candidates[0]!
  return { lat: degreesOf(lat), lon: degreesOf(lon) }
}

/** The places of stops as JSON. */
function placed(stops: readonly TripStop[]): string {
  return JSON.stringify(stops.map(placeOf))
}

function zoneOf({ lon, lat }: Location): string {
  return zoneAt(lon, lat)
}
