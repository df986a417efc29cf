import { growFloat64 } from '../grow.ts'

/** Ids of a bitmap. */
const MAP_IDS = 8192

/** Tests for the first occurrence of an id: 8 bytes for ascending ones, then bitmaps of 1 KiB per 8,192 ids. */
export class Once {
  #ids = new Float64Array(256)
  #count = 0
  #last = -Infinity
  #maps: Map<number, Uint32Array> | null = null

  first(id: number): boolean {
    if (!this.#maps) {
      if (id > this.#last) {
        this.#ids = growFloat64(this.#ids, this.#count + 1)
        this.#ids[this.#count++] = this.#last = id
        return true
      }
      this.#maps = new Map()
      for (let i = 0; i < this.#count; i++) this.#mark(this.#ids[i]!, this.#maps)
      this.#ids = new Float64Array()
    }
    return this.#mark(id, this.#maps)
  }

  /** Marks an id; false when it was marked before. */
  #mark(id: number, maps: Map<number, Uint32Array>): boolean {
    const key = Math.floor(id / MAP_IDS)
    let map = maps.get(key)
    if (!map) maps.set(key, (map = new Uint32Array(MAP_IDS / 32)))
    const at = id - key * MAP_IDS
    const bit = 1 << (at & 31)
    if ((map[at >>> 5]! & bit) !== 0) return false
    map[at >>> 5]! |= bit
    return true
  }
}
