import type { XmlHandler } from './xml.ts'

/** The layers of a file, as GDAL's GPX driver has them. */
export const GPX_LAYERS = ['waypoints', 'routes', 'tracks', 'route_points', 'track_points'] as const
export type GpxLayer = (typeof GPX_LAYERS)[number]

/** Longitude and latitude, as texts of the file. */
export type GpxPosition = readonly [string, string]

/** A waypoint, a route, a track, or a point of one of these. */
export interface GpxFeature {
  readonly layer: GpxLayer
  /** Texts by the names of their columns. */
  readonly values: ReadonlyMap<string, string>
  /** A list of positions for each segment of a track; one list for all others. */
  readonly lines: readonly (readonly GpxPosition[])[]
}

interface Draft {
  readonly layer: GpxLayer
  /** Depth in the document: the number of enclosing elements. */
  readonly depth: number
  readonly values: Map<string, string>
  readonly lines: GpxPosition[][]
  links: number
}

/** Elements that are features, each with its parent element. */
const FEATURES: Readonly<Record<string, GpxLayer>> = {
  'gpx/wpt': 'waypoints',
  'gpx/rte': 'routes',
  'gpx/trk': 'tracks',
  'rte/rtept': 'route_points',
  'trkseg/trkpt': 'track_points',
}

/** Gathers the features of a GPX document (1.0 or 1.1) while it is read. */
export class GpxDocument implements XmlHandler {
  version = ''
  readonly #onFeature: (feature: GpxFeature) => void
  readonly #onOther: (name: string) => void
  readonly #path: string[] = []
  /** The features that are open: a route or a track, and a point within. */
  readonly #drafts: Draft[] = []
  /** Index of the latest route and track. */
  #routes = -1
  #tracks = -1
  /** Name of the column whose element is open. */
  #column: string | null = null

  /**
   * @param onFeature called with each feature, at its end
   * @param onOther called for extensions outside of features: of the file, its metadata or a segment
   */
  constructor(onFeature: (feature: GpxFeature) => void, onOther: (name: string) => void = () => {}) {
    this.#onFeature = onFeature
    this.#onOther = onOther
  }

  /** Whether markup within an element is a part of its value. */
  get isVerbatim(): boolean {
    return this.#column !== null
  }

  open(name: string, attributes: Readonly<Record<string, string>>, qualified: string): void {
    const parent = this.#path.at(-1) ?? ''
    const depth = this.#path.push(name) - 1
    const layer = FEATURES[`${parent}/${name}`]
    const draft = this.#drafts.at(-1)
    if (depth === 0) this.version = attributes['version'] ?? ''
    else if (layer !== undefined) this.#openFeature(layer, depth, attributes)
    else if (name === 'trkseg' && draft?.layer === 'tracks') draft.lines.push([])
    else if (draft === undefined || !this.#isValue(draft, depth)) {
      if (name === 'extensions' && depth !== (draft?.depth ?? -1) + 1) this.#onOther(parent)
    } else if (name === 'link' && depth === draft.depth + 1) {
      draft.values.set(`link${++draft.links}_href`, attributes['href'] ?? '')
    } else this.#openValue(draft, name, attributes, qualified)
  }

  close(_: string, text: string): void {
    const depth = this.#path.length - 1
    this.#path.pop()
    const draft = this.#drafts.at(-1)
    if (draft === undefined) return
    if (this.#column !== null) {
      if (text !== '') draft.values.set(this.#column, withoutBreaks(text))
      this.#column = null
    } else if (depth === draft.depth) {
      this.#drafts.pop()
      this.#onFeature(draft)
    }
  }

  #openFeature(layer: GpxLayer, depth: number, { lon = '', lat = '' }: Readonly<Record<string, string>>): void {
    const around = this.#drafts.at(-1)
    const values = new Map<string, string>()
    const lines: GpxPosition[][] = layer === 'tracks' ? [] : [[]]
    if (layer === 'routes') this.#routes++
    else if (layer === 'tracks') this.#tracks++
    else lines[0]!.push([lon, lat])
    if (layer === 'route_points') {
      values.set('route_fid', String(this.#routes)).set('route_point_id', String(around?.lines[0]!.length ?? 0))
    } else if (layer === 'track_points') {
      values.set('track_fid', String(this.#tracks)).set('track_seg_id', String((around?.lines.length ?? 1) - 1))
      values.set('track_seg_point_id', String(around?.lines.at(-1)!.length ?? 0))
    }
    around?.lines.at(-1)?.push([lon, lat])
    this.#drafts.push({ layer, depth, values, lines, links: 0 })
  }

  /** Whether an element is one of the feature's own, of its extensions or of its links. */
  #isValue({ depth: own }: Draft, depth: number): boolean {
    const above = this.#path[own + 1]
    if (depth === own + 1) return above !== 'extensions'
    return depth === own + 2 && (above === 'extensions' || above === 'link')
  }

  /** A repeated element of a feature gets its number as a suffix; attributes become columns, too. */
  #openValue({ values, links }: Draft, name: string, attributes: Readonly<Record<string, string>>, full: string): void {
    const above = this.#path.at(-2)
    const base = above === 'link' ? `link${links}_${name}` : columnOf(above === 'extensions' ? full : name, full)
    const isForeign = above === 'extensions' && STANDARD.has(base)
    let column = isForeign ? `${base}_2` : base
    for (let i = isForeign ? 3 : 2; values.has(column); i++) column = `${base}_${i}`
    this.#column = column
    for (const [key, value] of Object.entries(attributes)) {
      if (!/^xmlns(:|$)/.test(key)) values.set(`${column}_${key.replaceAll(':', '_')}`, value)
    }
  }
}

/** Elements of both versions. An extension of the same name has another meaning. */
const STANDARD = new Set(
  'ele time course speed magvar geoidheight name cmt desc src url urlname sym type fix sat hdop vdop pdop ageofdgpsdata dgpsid number'.split(
    ' ',
  ),
)

/** The column of an element: its name, with the prefix for elements that are not the format's own. */
function columnOf(name: string, full: string): string {
  return (STANDARD.has(name) ? name : full).replaceAll(':', '_')
}

/** Removes line breaks between elements within a value, because they have no meaning. */
function withoutBreaks(text: string): string {
  return text.includes('\n')
    ? text.replaceAll(/(?<=^|>)\s+(?=<|$)/g, (blanks) => blanks.replaceAll(/[\r\n]/g, ''))
    : text
}
