import type { AreaAssembler } from '../area/assemble.ts'
import type { TagView } from './tag-view.ts'

/** Geometry types of an element: bits, because an element may have several. */
export const POINT = 1
export const LINE = 2
export const AREA = 4
/** The lines of a relation's ways. */
export const LINES = 8
/** Each way of a relation as a feature, once per membership. */
export const MEMBER = 16
/** No geometry: the ids and roles of a relation's ways are read. */
export const MEMBERS = 32

/** Kind of an OSM element; a closed way may be an area. */
export type ElementKind = 'node' | 'open way' | 'closed way' | 'relation'

/** One feature, valid during the visit only. */
export interface OsmFeature {
  readonly element: ElementKind
  readonly id: number
  readonly tags: TagView
  /** One of {@link POINT}, {@link LINE}, {@link AREA}, {@link LINES} and {@link MEMBER}. */
  readonly geometry: number
  /** The point (row 0), the line or lines, in 1e-7 degrees. Line `i` is the points `lineStart[i] .. lineStart[i + 1]`. */
  readonly lon: Int32Array
  readonly lat: Int32Array
  readonly lineStart: Int32Array
  readonly lines: number
  readonly area: AreaAssembler
  /** Ids and roles of a relation's ways, in its order; empty unless {@link MEMBER} or {@link MEMBERS} was selected. */
  readonly memberWays: Float64Array
  readonly memberRoles: readonly string[]
  /** Index of a {@link MEMBER} among them. */
  readonly member: number
}

/** Selects and receives the features of a file. */
export interface FeatureVisitor {
  /** The view through which tags are read; an element without any of its keys is skipped. */
  readonly tags: TagView
  /** The geometries wanted of the candidate whose tags are loaded, as bits; 0 passes it over. */
  select(element: ElementKind): number
  /** Takes a feature that touches the area of interest: nodes first, then ways, then relations. */
  visit(feature: OsmFeature): void
  /** True when {@link drain} must be called before the next feature. */
  readonly isFull?: boolean
  /** Called between blocks, and when the buffer is full; the reader waits for a promise. */
  drain?(): Promise<void> | void
}

/** Counts of the candidates of a file, by outcome. */
export interface FeatureCounts {
  nodes: number
  ways: number
  relations: number
  /** Candidates outside the area of interest. */
  outside: number
  /** Ways with fewer than two different points, and relations without any way, as at the border of an extract. */
  withoutGeometry: number
  /** Areas whose rings do not close. */
  openAreas: number
  /** Areas whose lines cross or touch away from nodes, or cancel each other. */
  invalidAreas: number
  /** Elements that occur in the file more than once. */
  repeated: number
  /** References to nodes that the file lacks. */
  missingNodes: number
  /** Members of relations whose way the file lacks, counted per membership, for {@link MEMBER}. */
  missingMembers: number
}

/** The counts before the first element. */
export function noCounts(): FeatureCounts {
  return {
    nodes: 0,
    ways: 0,
    relations: 0,
    outside: 0,
    withoutGeometry: 0,
    openAreas: 0,
    invalidAreas: 0,
    repeated: 0,
    missingNodes: 0,
    missingMembers: 0,
  }
}
