import { seededRandom } from '@terrane/core'

type Tags = Readonly<Record<string, string>>
type Kind = 'node' | 'way' | 'relation'

/** An element of OpenStreetMap, as `@terrane/osm` has them. */
export type MapElement =
  | { readonly type: 'node'; readonly id: number; readonly lon: number; readonly lat: number; readonly tags?: Tags }
  | { readonly type: 'way'; readonly id: number; readonly refs: readonly number[]; readonly tags?: Tags }
  | { readonly type: 'relation'; readonly id: number; readonly members: readonly MapMember[]; readonly tags?: Tags }

type NewElement = MapElement extends infer Element ? (Element extends MapElement ? Omit<Element, 'id'> : never) : never

interface MapMember {
  readonly type: Kind
  readonly ref: number
  readonly role: string
}

/** Bounding box of the nodes, in degrees. */
export const MAP_BOX = [11, 48, 11.1, 48.1] as const

const NODE_TAGS: readonly Tags[] = [
  {},
  {},
  { natural: 'tree' },
  { shop: 'bakery', name: 'Bread & "Butter" <3' },
  { place: 'village', name: 'Dörf', population: '12' },
  { highway: 'bus_stop', name: 'Stop' },
  { highway: 'crossing' },
  { 'addr:housenumber': '1', 'addr:street': 'Street' },
  { note: 'nothing' },
]
const WAY_TAGS: readonly Tags[] = [
  {},
  { highway: 'residential', name: 'Street' },
  { highway: 'pedestrian', area: 'yes' },
  { waterway: 'river', name: 'River' },
  { building: 'yes', height: '12 m', 'addr:housenumber': '7' },
  { landuse: 'meadow' },
  { natural: 'water' },
  { amenity: 'school', name: 'School' },
  { barrier: 'fence' },
  { railway: 'rail' },
]
const RELATION_TAGS: readonly Tags[] = [
  { type: 'multipolygon', natural: 'water', name: 'Lake' },
  { type: 'multipolygon', building: 'yes' },
  { type: 'boundary', boundary: 'administrative', admin_level: '8', name: 'Town' },
  { type: 'route', route: 'bus', ref: '7' },
  { type: 'route', route: 'bicycle', name: 'Round' },
  { type: 'waterway', waterway: 'river', name: 'Long' },
  { type: 'restriction', restriction: 'no_left_turn' },
]

/** A map whose elements move, split, change, go and come by a seed, with references to missing ones as at borders. */
export class ChangingMap {
  readonly #random: () => number
  readonly #elements: Record<Kind, Map<number, MapElement>> = { node: new Map(), way: new Map(), relation: new Map() }
  readonly #deleted: MapElement[] = []
  readonly #versions = new Map<string, number>()
  #next = 1

  /** @param blocks of houses and a street each, that the map begins with */
  constructor(seed: number, blocks = 12) {
    this.#random = seededRandom(seed)
    for (let i = 0; i < blocks; i++) this.#addBlock()
    for (let i = 0; i < blocks / 2; i++) this.#addRelation()
  }

  /** All elements, sorted by type and id. */
  elements(): MapElement[] {
    return (['node', 'way', 'relation'] as const).flatMap((kind) =>
      [...this.#elements[kind].values()].toSorted((a, b) => a.id - b.id),
    )
  }

  /** Makes `edits` edits and returns them as an OsmChange document. */
  change(edits: number): string {
    const before = this.elements()
    for (let i = 0; i < edits; i++) this.#edit()
    return this.#changeFile(before, this.elements())
  }

  /** All elements as an OSM XML document, with the versions that later change files continue. */
  document(): string {
    const elements = this.elements().map((element) => toXml(element, this.#versions.get(keyOf(element)) ?? 1))
    return `<?xml version="1.0" encoding="UTF-8"?>\n<osm version="0.6">${elements.join('\n')}</osm>\n`
  }

  #edit(): void {
    const edits = [
      () => this.#set({ ...this.#any('node'), ...this.#place() }),
      () => this.#shift(),
      () => this.#set({ ...this.#any('node'), tags: this.#one(NODE_TAGS) }),
      () => this.#set({ ...this.#any('way'), tags: this.#one(WAY_TAGS) }),
      () => this.#set({ ...this.#any('relation'), tags: this.#one(RELATION_TAGS) }),
      () => this.#delete(this.#any(this.#one(['node', 'node', 'way', 'relation'] as const))),
      () => this.#undelete(),
      () => this.#split(),
      () => this.#rewire(),
      () => this.#regroup(),
      () => this.#addBlock(),
      () => this.#addRelation(),
      () => this.#addNode(this.#one(NODE_TAGS)),
    ]
    this.#one(edits)()
  }

  /** A square with a street along it, and sometimes a yard within. */
  #addBlock(): void {
    const { lon, lat } = this.#place()
    const size = 0.0005 + this.#random() * 0.004
    const ring = this.#ring(lon, lat, size)
    this.#addWay(ring, this.#one(WAY_TAGS))
    if (this.#random() < 0.5) {
      const yard = this.#addWay(this.#ring(lon + size / 4, lat + size / 4, size / 2), {})
      const outer = this.#addWay(ring, {})
      this.#add({
        type: 'relation',
        members: [memberOf(outer, 'outer'), memberOf(yard, 'inner')],
        tags: RELATION_TAGS[0]!,
      })
    }
    this.#addWay([ring[0]!, ring[1]!, this.#addNode({}, lon + 2 * size, lat + size)], this.#one(WAY_TAGS))
  }

  #ring(lon: number, lat: number, size: number): number[] {
    const [a, b] = [this.#addNode({}, lon, lat), this.#addNode({}, lon + size, lat)]
    return [a, b, this.#addNode({}, lon + size, lat + size), this.#addNode({}, lon, lat + size), a]
  }

  #addRelation(): void {
    const members = Array.from({ length: 1 + Math.floor(this.#random() * 4) }, () => this.#member())
    this.#add({ type: 'relation', members, tags: this.#one(RELATION_TAGS) })
  }

  #member(): MapMember {
    const role = this.#one(['', 'outer', 'inner', 'platform', 'forward'])
    if (this.#random() < 0.2) return { type: 'node', ref: this.#any('node').id, role }
    return memberOf(this.#random() < 0.1 ? this.#next + 5 : this.#any('way').id, role)
  }

  #shift(): void {
    const node = this.#any('node')
    const step = (): number => (this.#random() - 0.5) * 0.001
    this.#set({ ...node, lon: round(node.lon + step()), lat: round(node.lat + step()) })
  }

  #split(): void {
    const way = this.#any('way')
    if (way.refs.length < 3) return
    const at = 1 + Math.floor(this.#random() * (way.refs.length - 2))
    this.#set({ ...way, refs: way.refs.slice(0, at + 1) })
    const rest = this.#addWay(way.refs.slice(at), way.tags ?? {})
    for (const relation of this.#elements.relation.values()) {
      if (relation.type !== 'relation' || !relation.members.some(({ ref }) => ref === way.id)) continue
      this.#set({ ...relation, members: [...relation.members, memberOf(rest, 'outer')] })
    }
  }

  /** A way gains a node, loses one, or is turned round. */
  #rewire(): void {
    const way = this.#any('way')
    const at = Math.floor(this.#random() * way.refs.length)
    const ways = [
      () => way.refs.toSpliced(at, 1),
      () => way.refs.toSpliced(at, 0, this.#random() < 0.1 ? this.#next + 7 : this.#any('node').id),
      () => way.refs.toReversed(),
    ]
    this.#set({ ...way, refs: this.#one(ways)() })
  }

  /** A relation gains a member or loses one. */
  #regroup(): void {
    const relation = this.#any('relation')
    const at = Math.floor(this.#random() * relation.members.length)
    const members = relation.members.toSpliced(at, this.#random() < 0.5 ? 1 : 0)
    this.#set({
      ...relation,
      members: members.length < relation.members.length ? members : [...members, this.#member()],
    })
  }

  #delete(element: MapElement): void {
    if (this.#elements[element.type].size < 4) return
    this.#elements[element.type].delete(element.id)
    this.#deleted.push(element)
  }

  #undelete(): void {
    const element = this.#deleted.pop()
    if (element && !this.#elements[element.type].has(element.id)) this.#set(element)
  }

  #addNode(tags: Tags, lon?: number, lat?: number): number {
    const place = this.#place()
    return this.#add({ type: 'node', lon: round(lon ?? place.lon), lat: round(lat ?? place.lat), tags })
  }

  #addWay(refs: readonly number[], tags: Tags): number {
    return this.#add({ type: 'way', refs, tags })
  }

  /** Ids have gaps: some pages of ids are nearly empty. */
  #add(element: NewElement): number {
    const id = (this.#next += this.#random() < 0.05 ? 300 : 1)
    this.#set({ ...element, id })
    return id
  }

  #set(element: MapElement): void {
    this.#elements[element.type].set(element.id, element)
  }

  #place(): { lon: number; lat: number } {
    const [west, south, east, north] = MAP_BOX
    return { lon: round(west + this.#random() * (east - west)), lat: round(south + this.#random() * (north - south)) }
  }

  #any<K extends Kind>(kind: K): Extract<MapElement, { type: K }> {
    return this.#one([...this.#elements[kind].values()]) as Extract<MapElement, { type: K }>
  }

  #one<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!
  }

  #changeFile(before: readonly MapElement[], after: readonly MapElement[]): string {
    const then = new Map(before.map((element) => [keyOf(element), element]))
    const now = new Map(after.map((element) => [keyOf(element), element]))
    const version = (element: MapElement): number => {
      const known = this.#versions.get(keyOf(element)) ?? Number(then.has(keyOf(element)))
      this.#versions.set(keyOf(element), known + 1)
      return known + 1
    }
    const created = after.filter((element) => !then.has(keyOf(element)))
    const modified = after.filter((element) => then.has(keyOf(element)) && then.get(keyOf(element)) !== element)
    const gone = before.filter((element) => !now.has(keyOf(element)))
    const section = (name: string, elements: readonly MapElement[]): string =>
      `<${name}>${elements.map((element) => toXml(element, version(element))).join('')}</${name}>`
    const sections = section('create', created) + section('modify', modified) + section('delete', gone)
    return `<?xml version="1.0" encoding="UTF-8"?>\n<osmChange version="0.6">${sections}</osmChange>\n`
  }
}

function keyOf({ type, id }: MapElement): string {
  return `${type} ${id}`
}

function memberOf(ref: number, role: string): MapMember {
  return { type: 'way', ref, role }
}

function round(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7
}

function toXml(element: MapElement, version: number): string {
  const { type, id, tags = {} } = element
  const head = `<${type} id="${id}" version="${version}"`
  const tagged = Object.entries(tags).map(([k, v]) => `<tag k="${escape(k)}" v="${escape(v)}"/>`)
  if (element.type === 'node') return `${head} lon="${element.lon}" lat="${element.lat}">${tagged.join('')}</node>`
  const parts =
    element.type === 'way'
      ? element.refs.map((ref) => `<nd ref="${ref}"/>`)
      : element.members.map((one) => `<member type="${one.type}" ref="${one.ref}" role="${one.role}"/>`)
  return `${head}>${parts.join('')}${tagged.join('')}</${type}>`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
