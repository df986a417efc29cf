import { WAY } from '../block.ts'
import type { RelationColumns, TagColumns } from '../block.ts'
import { growFloat64, growUint32 } from '../grow.ts'
import { StringTable } from '../string-table.ts'

/** Members with these roles are not part of the line of a route. */
const NOT_THE_LINE = /^(platform|stop)/

const NO_MEMBERS = { ways: new Float64Array(), roles: [] }

/** Relations kept for the end of a file, when their ways are known: tags, and the ids of the member ways. */
export class RelationStore {
  readonly strings = new StringTable()
  readonly columns: TagColumns = {
    count: 0,
    ids: new Float64Array(64),
    tagOffsets: new Uint32Array(64),
    tags: new Uint32Array(256),
  }
  /** Way ids of relation `i` are `wayIds[wayOffsets[i] .. wayOffsets[i + 1]]`, each once, in order. */
  wayOffsets = new Uint32Array(64)
  wayIds = new Float64Array(256)
  readonly #indices = new Map<string, number>()
  /** Way members with their roles, once per membership; those of a relation start at {@link #memberStart}. */
  #members = new Float64Array(0)
  #roles = new Uint32Array(0)
  #memberCount = 0
  readonly #memberStart = new Map<number, { readonly from: number; readonly to: number }>()

  get memberBytes(): number {
    return this.#members.byteLength + this.#roles.byteLength
  }

  /** Ids and roles of the ways of relation `i`; empty unless it was added with them. */
  membersOf(i: number): { readonly ways: Float64Array; readonly roles: readonly string[] } {
    const place = this.#memberStart.get(i)
    if (!place) return NO_MEMBERS
    const { from, to } = place
    const roles = Array.from(this.#roles.subarray(from, to), (role) => this.strings.get(role).replaceAll('\0', ''))
    return { ways: this.#members.subarray(from, to), roles }
  }

  /** Ids of all ways that are needed, repeated ones included. */
  neededWays(): Float64Array {
    const ids = this.wayIds.subarray(0, this.wayOffsets[this.columns.count])
    if (this.#memberCount === 0) return ids
    const all = new Float64Array(ids.length + this.#memberCount)
    all.set(ids)
    all.set(this.#members.subarray(0, this.#memberCount), ids.length)
    return all
  }

  /** Keeps row `row` of a block, and all its ways with their roles where `withMembers`. */
  add(relations: RelationColumns, row: number, strings: StringTable, withMembers: boolean): void {
    const kept = this.columns
    const at = kept.count++
    kept.ids = growFloat64(kept.ids, at + 1)
    kept.tagOffsets = growUint32(kept.tagOffsets, at + 2)
    kept.ids[at] = relations.ids[row]!
    let pair = kept.tagOffsets[at]!
    const tagEnd = relations.tagOffsets[row + 1]!
    kept.tags = growUint32(kept.tags, (pair + tagEnd - relations.tagOffsets[row]!) * 2)
    for (let t = relations.tagOffsets[row]!; t < tagEnd; t++, pair++) {
      kept.tags[pair * 2] = this.#index(strings.get(relations.tags[t * 2]!))
      kept.tags[pair * 2 + 1] = this.#index(strings.get(relations.tags[t * 2 + 1]!))
    }
    kept.tagOffsets[at + 1] = pair
    this.#addWays(relations, row, at, strings)
    if (withMembers) this.#addMembers(relations, row, at, strings)
  }

  #addMembers(relations: RelationColumns, row: number, at: number, strings: StringTable): void {
    const first = relations.memberOffsets[row]!
    const end = relations.memberOffsets[row + 1]!
    const from = this.#memberCount
    this.#members = growFloat64(this.#members, from + end - first)
    this.#roles = growUint32(this.#roles, from + end - first)
    for (let m = first; m < end; m++) {
      if (relations.memberTypes[m] !== WAY) continue
      this.#members[this.#memberCount] = relations.memberRefs[m]!
      this.#roles[this.#memberCount++] = this.#index(strings.get(relations.memberRoles[m]!))
    }
    this.#memberStart.set(at, { from, to: this.#memberCount })
  }

  #addWays(relations: RelationColumns, row: number, at: number, strings: StringTable): void {
    const seen = new Set<number>()
    for (let m = relations.memberOffsets[row]!; m < relations.memberOffsets[row + 1]!; m++) {
      if (relations.memberTypes[m] !== WAY) continue
      const role = strings.get(relations.memberRoles[m]!)
      if (!NOT_THE_LINE.test(role)) seen.add(relations.memberRefs[m]!)
    }
    const from = this.wayOffsets[at]!
    this.wayOffsets = growUint32(this.wayOffsets, at + 2)
    this.wayIds = growFloat64(this.wayIds, from + seen.size)
    let to = from
    for (const id of seen) this.wayIds[to++] = id
    this.wayOffsets[at + 1] = to
  }

  #index(text: string): number {
    let index = this.#indices.get(text)
    if (index === undefined) {
      index = this.strings.addText(text)
      this.#indices.set(text, index)
    }
    return index
  }
}
