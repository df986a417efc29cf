import type { Bbox } from '@terrane/core'
import { UNITS_PER_DEGREE } from '../block.ts'
import type { OsmElement, OsmNode, OsmRelation, OsmWay } from '../element.ts'
import { ElementPages, ReferencePages } from './page-cache.ts'
import {
  NODE_PAGE,
  RELATIONS_OF_WAYS,
  RELATION_PAGE,
  WAYS_OF_NODES,
  WAY_PAGE,
  decodeElements,
  decodeNodes,
  encodeElements,
  encodeNodes,
  locationOf,
  withWaysOnly,
} from './pages.ts'
import type { Location, Page, PageStore } from './pages.ts'
import type { OsmChanges } from './read-changes.ts'

/** Effect of a change file on an extract. */
export interface UpdatePlan {
  /** Elements whose features may have changed: their rows are deleted and made again from `elements`. */
  readonly affected: Readonly<Record<OsmElement['type'], ReadonlySet<number>>>
  /** The affected elements that exist after the change, with all elements that their geometry needs. */
  readonly elements: readonly OsmElement[]
  /** Pages to write; each replaces all stored parts of its page. */
  readonly pages: readonly Page[]
}

/**
 * Finds what a change file changes: the elements in it, the ways whose nodes have moved, and the relations of such ways.
 *
 * @param extent boxes of the extract, for change files of a larger area (e.g. the planet): elements that are not in the
 *   extract yet count only when they lie in these boxes or belong to elements that do; null counts all. Changes that do
 *   not count are removed from `changes`.
 * @throws OSM_MALFORMED for a page that is damaged, and what the store throws
 */
export async function planUpdate(
  changes: OsmChanges,
  store: PageStore,
  extent: readonly Bbox[] | null,
): Promise<UpdatePlan> {
  const planner = new Planner(changes, store)
  await planner.load()
  if (extent) await planner.restrict(extent)
  const moved = planner.moveNodes()
  const ways = await planner.changeWays(moved)
  const relations = await planner.changeRelations(ways)
  const affected = { node: new Set(changes.nodes.keys()), way: ways, relation: relations }
  return { affected, elements: await planner.gather(ways, relations), pages: planner.changedPages() }
}

class Planner {
  readonly #changes: OsmChanges
  readonly #nodes: ElementPages<Location>
  readonly #ways: ElementPages<OsmWay>
  readonly #relations: ElementPages<OsmRelation>
  readonly #waysOfNodes: ReferencePages
  readonly #relationsOfWays: ReferencePages

  constructor(changes: OsmChanges, store: PageStore) {
    this.#changes = changes
    const elements = { encode: encodeElements, decode: (_: number, data: Uint8Array) => decodeElements(data) as never }
    this.#nodes = new ElementPages(NODE_PAGE, { encode: encodeNodes, decode: decodeNodes }, store)
    this.#ways = new ElementPages<OsmWay>(WAY_PAGE, elements, store)
    this.#relations = new ElementPages<OsmRelation>(RELATION_PAGE, elements, store)
    this.#waysOfNodes = new ReferencePages(WAYS_OF_NODES, store)
    this.#relationsOfWays = new ReferencePages(RELATIONS_OF_WAYS, store)
  }

  async load(): Promise<void> {
    const { nodes, ways, relations } = this.#changes
    await this.#nodes.load(nodes.keys())
    await this.#ways.load(ways.keys())
    await this.#relations.load(relations.keys())
  }

  /** Removes the changes of elements that the extract neither has nor should have. */
  async restrict(extent: readonly Bbox[]): Promise<void> {
    const { nodes, ways, relations } = this.#changes
    const kept = new Set<number>()
    for (const [id, node] of nodes) if (this.#nodes.get(id) || (node && isIn(node, extent))) kept.add(id)
    const unknown = [...ways].filter(([id]) => !this.#ways.get(id))
    await this.#nodes.load(unknown.flatMap(([, way]) => way?.refs ?? []))
    const isHere = (ref: number): boolean => kept.has(ref) || this.#nodes.get(ref) !== undefined
    const keptWays = new Set<number>()
    for (const [id, way] of ways) if (this.#ways.get(id) || way?.refs.some(isHere)) keptWays.add(id)
    const others = [...relations].filter(([id]) => !this.#relations.get(id))
    await this.#ways.load(others.flatMap(([, relation]) => (relation ? waysOf(relation) : [])))
    const isWayHere = (ref: number): boolean => keptWays.has(ref) || this.#ways.get(ref) !== undefined
    for (const [id, relation] of relations) {
      const isKept = this.#relations.get(id) !== undefined || (relation !== null && waysOf(relation).some(isWayHere))
      if (!isKept) relations.delete(id)
      else if (relation) for (const ref of waysOf(relation)) if (ways.has(ref)) keptWays.add(ref)
    }
    for (const [id, way] of ways) {
      if (!keptWays.has(id)) ways.delete(id)
      else for (const ref of way?.refs ?? []) kept.add(ref)
    }
    for (const id of nodes.keys()) if (!kept.has(id)) nodes.delete(id)
  }

  /** Returns the nodes whose location has changed. */
  moveNodes(): Set<number> {
    const moved = new Set<number>()
    for (const [id, node] of this.#changes.nodes) {
      const before = this.#nodes.get(id)
      const after = node && locationOf(node)
      if (before ? after !== null && before[0] === after[0] && before[1] === after[1] : after === null) continue
      moved.add(id)
      this.#nodes.set(id, after)
    }
    return moved
  }

  /** Returns the ways that have changed, including the ways of the moved nodes. */
  async changeWays(moved: ReadonlySet<number>): Promise<Set<number>> {
    const { ways } = this.#changes
    const affected = new Set(ways.keys())
    const refs = [...ways].flatMap(([id, way]) => [...(this.#ways.get(id)?.refs ?? []), ...(way?.refs ?? [])])
    await this.#waysOfNodes.load(moved)
    await this.#waysOfNodes.load(refs)
    for (const [id, way] of ways) {
      const before = this.#ways.get(id)
      this.#waysOfNodes.move(id, before?.refs ?? [], way?.refs ?? [])
      if (before || way) this.#ways.set(id, way)
    }
    const candidates = this.#waysOfNodes.candidates(moved)
    await this.#ways.load(candidates)
    for (const id of candidates) if (this.#ways.get(id)?.refs.some((ref) => moved.has(ref))) affected.add(id)
    return affected
  }

  /** Returns the relations that have changed, including the relations of the changed ways. */
  async changeRelations(changedWays: ReadonlySet<number>): Promise<Set<number>> {
    const { relations } = this.#changes
    const affected = new Set(relations.keys())
    const before = [...relations.keys()].map((id) => this.#relations.get(id))
    const after = [...relations.values()]
    await this.#relationsOfWays.load(changedWays)
    await this.#relationsOfWays.load([...before, ...after].flatMap((relation) => (relation ? waysOf(relation) : [])))
    for (const [id, relation] of relations) {
      const known = this.#relations.get(id)
      const kept = relation && withWaysOnly(relation)
      this.#relationsOfWays.move(id, known ? waysOf(known) : [], kept ? waysOf(kept) : [])
      if (known || kept) this.#relations.set(id, kept && kept.members.length > 0 ? kept : null)
    }
    const candidates = this.#relationsOfWays.candidates(changedWays)
    await this.#relations.load(candidates)
    for (const id of candidates) {
      const relation = this.#relations.get(id)
      if (relation && waysOf(relation).some((ref) => changedWays.has(ref))) affected.add(id)
    }
    return affected
  }

  /** The elements, with the ways of the relations and the nodes of all ways. */
  async gather(affectedWays: ReadonlySet<number>, affectedRelations: ReadonlySet<number>): Promise<OsmElement[]> {
    const relations = [...affectedRelations].flatMap((id) => this.#relations.get(id) ?? [])
    const wayIds = new Set([...affectedWays, ...relations.flatMap(waysOf)])
    await this.#ways.load(wayIds)
    const ways = [...wayIds].flatMap((id) => this.#ways.get(id) ?? [])
    const nodeIds = new Set(ways.flatMap(({ refs }) => refs))
    await this.#nodes.load(nodeIds)
    const nodes: OsmNode[] = []
    for (const node of this.#changes.nodes.values()) if (node && locationOf(node)) nodes.push(node)
    for (const id of nodeIds) {
      const location = this.#nodes.get(id)
      if (!location || this.#changes.nodes.has(id)) continue
      const [lon, lat] = location
      nodes.push({ type: 'node', id, lon: lon / UNITS_PER_DEGREE, lat: lat / UNITS_PER_DEGREE })
    }
    return [nodes, ways, relations].flatMap((list) => (list as OsmElement[]).toSorted((a, b) => a.id - b.id))
  }

  changedPages(): Page[] {
    const caches = [this.#nodes, this.#ways, this.#relations, this.#waysOfNodes, this.#relationsOfWays]
    return caches.flatMap((cache) => cache.changed())
  }
}

function waysOf({ members }: OsmRelation): number[] {
  return members.flatMap(({ type, ref }) => (type === 'way' ? [ref] : []))
}

function isIn({ lon, lat }: OsmNode, boxes: readonly Bbox[]): boolean {
  return boxes.some(([west, south, east, north]) => lon >= west && lon <= east && lat >= south && lat <= north)
}
