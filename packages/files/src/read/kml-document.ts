import type { GeoJsonGeometry } from '@terrane/core/wkb'
import type { Warnings } from '@terrane/core/errors'
import { isoInstant } from './kml-time.ts'
import type { XmlHandler } from './xml.ts'

/** A placemark in the document. */
export interface Placemark {
  /** Number and name of its folder or document. */
  readonly container: number
  readonly containerName: string
  /** Values of the columns that every layer has. */
  readonly fixed: Readonly<Record<string, unknown>>
  /** Values of the user's fields. */
  readonly data: ReadonlyMap<string, string>
  readonly geometry: GeoJsonGeometry | null
  readonly hasGeometry: boolean
}

interface Draft {
  readonly fixed: Record<string, unknown>
  readonly data: Map<string, string>
  /** Open geometries, each with its parts. */
  readonly parts: GeoJsonGeometry[][]
  hasGeometry: boolean
}

const CONTAINERS = new Set(['Folder', 'Document'])
/** Names of elements; some writers use those of GML. */
const MULTIS = ['MultiGeometry', 'MultiPoint', 'MultiLineString', 'MultiPolygon', 'MultiTrack']
const GEOMETRIES = new Set(['Point', 'LineString', 'LinearRing', 'Polygon', ...MULTIS, 'Track', 'Model'])
const OVERLAYS = new Set(['GroundOverlay', 'ScreenOverlay', 'PhotoOverlay', 'NetworkLink'])
/** Values of a camera besides its position. */
const CAMERA = new Set(['heading', 'tilt', 'roll'])
const VERBATIM = new Set(['description', 'Snippet', 'snippet', 'value', 'SimpleData'])
const LISTS_OF_DATA = new Set(['Data', 'SchemaData'])
/** Texts of a placemark that LIBKML has no columns for. */
const TEXTS = new Set(['address', 'phoneNumber'])
const NUMBERS = new Set(['tessellate', 'extrude', 'visibility', 'drawOrder'])

/** Gathers the placemarks of a KML document while it is read. */
export class KmlDocument implements XmlHandler {
  /** Types that schemas declare, by the name of the field. */
  readonly declared = new Map<string, string>(Array.from(CAMERA, (name) => [name, 'double']))
  readonly #onPlacemark: (placemark: Placemark) => void
  readonly #warnings: Warnings | null
  readonly #path: string[] = []
  readonly #containers: { readonly id: number; name: string }[] = [{ id: 0, name: '' }]
  #count = 0
  #draft: Draft | null = null
  #dataName = ''
  #rings: { isOuter: boolean; positions: number[][] }[] = []
  #line: number[][] = []
  /** Values of an array of data, one for each position of a track. */
  #list: string[] = []
  #times: string[] = []
  #location: [number, number, number] = [0, 0, 0]

  constructor(onPlacemark: (placemark: Placemark) => void, warnings: Warnings | null) {
    this.#onPlacemark = onPlacemark
    this.#warnings = warnings
  }

  /**
   * Whether content is taken literally, because it may contain markup: in descriptions, values and unknown elements of
   * `ExtendedData`.
   */
  get isVerbatim(): boolean {
    if (this.#draft === null) return false
    const name = this.#path.at(-1)!
    return VERBATIM.has(name) || (this.#path.at(-2) === 'ExtendedData' && !LISTS_OF_DATA.has(name))
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#path.push(name)
    if (CONTAINERS.has(name)) this.#containers.push({ id: ++this.#count, name: '' })
    else if (name === 'Placemark') {
      const fixed = { id: attributes['id'] ?? null, tessellate: -1, extrude: 0, visibility: -1 }
      this.#draft = { fixed, data: new Map(), parts: [[]], hasGeometry: false }
    } else if (name === 'SimpleField') this.declared.set(attributes['name'] ?? '', attributes['type'] ?? '')
    else if (/^(Data|SimpleData|SimpleArrayData)$/.test(name)) {
      this.#dataName = attributes['name'] ?? ''
      this.#list = []
    } else if (OVERLAYS.has(name)) {
      const message = 'Overlays and links to other files are not features, and were left out.'
      this.#warnings?.count('OVERLAYS_LEFT_OUT', message, attributes['id'] ?? name)
    }
    if (this.#draft && GEOMETRIES.has(name) && !(name === 'LinearRing' && this.#isIn('Polygon'))) {
      this.#draft.hasGeometry = true
      this.#draft.parts.push([])
      if (name === 'Polygon') this.#rings = []
      this.#line = []
      this.#times = []
    }
    if (name === 'LinearRing') this.#line = []
  }

  close(name: string, text: string): void {
    this.#path.pop()
    const parent = this.#path.at(-1) ?? ''
    if (CONTAINERS.has(name)) this.#containers.pop()
    else if (name === 'name' && CONTAINERS.has(parent)) this.#containers.at(-1)!.name = text.trim()
    if (!this.#draft) return
    if (name === 'Placemark') this.#finish(this.#draft)
    else if (GEOMETRIES.has(name)) this.#closeGeometry(name, this.#draft)
    else this.#closeValue(name, parent, text, this.#draft)
  }

  #closeValue(name: string, parent: string, text: string, draft: Draft): void {
    const { fixed, data } = draft
    if (name === 'coordinates') this.#line = positionsOf(text)
    else if (name === 'coord') this.#line.push(text.trim().split(/\s+/).map(Number))
    else if (name === 'longitude') this.#location[0] = Number(text)
    else if (name === 'latitude') this.#location[1] = Number(text)
    else if (name === 'altitude') this.#location[2] = Number(text)
    else if (name === 'when' && parent === 'Track') this.#times.push(text.trim())
    else if (name === 'when') fixed['timestamp'] = this.#instant(text)
    else if ((name === 'begin' || name === 'end') && parent === 'TimeSpan') fixed[name] = this.#instant(text)
    else if (name === 'value' && parent === 'Data') data.set(this.#dataName, text)
    else if (name === 'value' && parent === 'SimpleArrayData') this.#list.push(text)
    else if (name === 'SimpleArrayData') data.set(this.#dataName, JSON.stringify(this.#list))
    else if (name === 'SimpleData') data.set(this.#dataName, text)
    else if (name === 'href' && parent === 'Icon') fixed['icon'] = text.trim()
    else if (name === 'altitudeMode') fixed[name] = text.trim()
    else if (NUMBERS.has(name)) fixed[name] = Number(text.trim() || -1)
    else if (parent === 'Placemark' && name === 'name') fixed['Name'] = text
    else if (parent === 'Placemark' && name === 'description') fixed['description'] = text
    else if (parent === 'Placemark' && TEXTS.has(name) && text.trim() !== '') data.set(name, text)
    else if (parent === 'Placemark' && /^snippet$/i.test(name)) data.set('snippet', text)
    else if (parent === 'Camera' && CAMERA.has(name)) data.set(name, text.trim())
    else if (parent === 'ExtendedData' && text.trim() !== '') data.set(name, text)
  }

  #closeGeometry(name: string, draft: Draft): void {
    if (name === 'LinearRing' && this.#isIn('Polygon')) {
      this.#rings.push({ isOuter: this.#isIn('outerBoundaryIs'), positions: closed(this.#line) })
      return
    }
    const parts = draft.parts.pop()!
    const made = this.#made(name, parts, draft)
    if (made) draft.parts.at(-1)!.push(made)
  }

  #made(name: string, parts: readonly GeoJsonGeometry[], { fixed, data }: Draft): GeoJsonGeometry | null {
    switch (name) {
      case 'Point':
        return this.#line[0] ? { type: 'Point', coordinates: this.#line[0] } : null
      case 'Model':
        return { type: 'Point', coordinates: [...this.#location] }
      case 'LineString':
        return this.#line.length > 0 ? { type: 'LineString', coordinates: this.#line } : null
      case 'LinearRing':
        return this.#line.length > 0 ? { type: 'LineString', coordinates: closed(this.#line) } : null
      case 'Track':
        if (this.#times.length > 0) {
          fixed['begin'] ??= this.#instant(this.#times[0]!)
          fixed['end'] = this.#instant(this.#times.at(-1)!)
          this.#keepTimes(data)
        }
        return this.#line.length > 0 ? { type: 'LineString', coordinates: this.#line } : null
      case 'Polygon': {
        const rings = this.#rings.toSorted((a, b) => Number(b.isOuter) - Number(a.isOuter))
        return rings.length > 0 ? { type: 'Polygon', coordinates: rings.map(({ positions }) => positions) } : null
      }
      default:
        return gathered(parts)
    }
  }

  /** Stores the times of a track's positions as a JSON list, if there are more than the begin and the end. */
  #keepTimes(data: Map<string, string>): void {
    if (this.#times.length <= 2) return
    const before = JSON.parse(data.get('when') ?? '[]') as string[]
    data.set('when', JSON.stringify([...before, ...this.#times]))
  }

  #finish({ fixed, data, parts, hasGeometry }: Draft): void {
    const { id, name } = this.#containers.at(-1)!
    const geometry = parts[0]!.length > 1 ? gathered(parts[0]!) : (parts[0]![0] ?? null)
    // Drawing options have no meaning without a geometry.
    if (!hasGeometry) Object.assign(fixed, { tessellate: null, extrude: null })
    this.#draft = null
    this.#onPlacemark({ container: id, containerName: name, fixed, data, geometry, hasGeometry })
  }

  #isIn(name: string): boolean {
    return this.#path.lastIndexOf(name) > this.#path.lastIndexOf('Placemark')
  }

  #instant(text: string): string | null {
    const { instant, isWhole } = isoInstant(text.trim())
    if (instant === null && text.trim() !== '')
      this.#warnings?.count('TIMES_UNREADABLE', 'Times that cannot be read were left out.', text.slice(0, 40))
    else if (!isWhole)
      this.#warnings?.count(
        'TIMES_COMPLETED',
        'Times of a year, month or day stand for its first instant.',
        text.slice(0, 40),
      )
    return instant
  }
}

/** Parts of one kind make a multi geometry, others a collection. */
function gathered(parts: readonly GeoJsonGeometry[]): GeoJsonGeometry | null {
  const types = new Set(parts.map(({ type }) => type))
  const [type] = types
  if (type === undefined) return null
  if (types.size > 1 || !['Point', 'LineString', 'Polygon'].includes(type))
    return { type: 'GeometryCollection', geometries: parts }
  return { type: `Multi${type}`, coordinates: parts.map(({ coordinates }) => coordinates) }
}

/** Positions `x,y[,z]` separated by blanks; some writers put blanks around the commas, too. */
function positionsOf(text: string): number[][] {
  const tuples: string[] = []
  for (const part of text.trim().split(/\s+/)) {
    const last = tuples.at(-1)
    if (last !== undefined && (part.startsWith(',') || last.endsWith(','))) tuples[tuples.length - 1] = last + part
    else if (part !== '') tuples.push(part)
  }
  return tuples.map((tuple) => tuple.split(',').map((number) => (number === '' ? Number.NaN : Number(number))))
}

function closed(positions: number[][]): number[][] {
  const first = positions[0]
  const last = positions.at(-1)
  return first && last && (first[0] !== last[0] || first[1] !== last[1]) ? [...positions, first] : positions
}
