import { WAY } from '../block.ts'
import type { RelationColumns, TagColumns } from '../block.ts'
import { growFloat64, growUint32 } from '../grow.ts'
import { StringTable } from '../string-table.ts'

/** Members with these roles are not part of the line of a route. */
const NOT_THE_LINE = /^(platform|stop)/

const NO_MEMBERS = { ways: [], roles: [] }

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
  /** Way members of each relation with their roles, for a reader that takes them. */
  readonly #members: { ways: number[]; roles: string[] }[] | null

  /** @param takesMembers keeps all ways with their roles, as often as they are members */
  constructor({ takesMembers = false }: { readonly takesMembers?: boolean } = {}) {
    this.#members = takesMembers ? [] : null
  }

  /** Ids and roles of the ways of relation `i`. */
  membersOf(i: number): { readonly ways: readonly number[]; readonly roles: readonly string[] } {
    return this.#members?.[i] ?? NO_MEMBERS
  }

  /** Ids of all ways that are needed, repeated ones included. */
  neededWays(): Float64Array {
    const ids = this.wayIds.subarray(0, this.wayOffsets[this.columns.count])
    return this.#members ? Float64Array.from([...ids, ...this.#members.flatMap(({ ways }) => ways)]) : ids
  }

  /** Keeps row `row` of a block. */
  add(relations: RelationColumns, row: number, strings: StringTable): void {
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
  }

  #addWays(relations: RelationColumns, row: number, at: number, strings: StringTable): void {
    const seen = new Set<number>()
    const members = { ways: [] as number[], roles: [] as string[] }
    for (let m = relations.memberOffsets[row]!; m < relations.memberOffsets[row + 1]!; m++) {
      if (relations.memberTypes[m] !== WAY) continue
      const role = strings.get(relations.memberRoles[m]!)
      if (this.#members) {
        members.ways.push(relations.memberRefs[m]!)
        members.roles.push(role.replaceAll('\0', ''))
      }
      if (!NOT_THE_LINE.test(role)) seen.add(relations.memberRefs[m]!)
    }
    this.#members?.push(members)
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
