import type { BatchMessage } from './protocol.ts'

/** Milliseconds after a message from which the next added results are sent at once, whatever their number. */
const MAX_WAIT_MS = 200

/** Gathers the results of neighbouring tiles into messages of up to `maxTiles` tiles. */
export class ResultBuffer {
  readonly #maxTiles: number
  readonly #post: (message: BatchMessage, transfer: ArrayBuffer[]) => void
  #first = 0
  #end = 0
  #posted = performance.now()
  #tiles: number[] = []
  #fractions: number[] = []
  #vectors: Float32Array[] = []

  constructor(maxTiles: number, post: (message: BatchMessage, transfer: ArrayBuffer[]) => void) {
    this.#maxTiles = maxTiles
    this.#post = post
  }

  /** Starts at a tile; earlier results must have been flushed. */
  begin(first: number): void {
    this.#first = first
    this.#end = first
  }

  /** Adds the results of the tiles up to `end`; tiles missing in `tiles` had too little data. */
  add(end: number, tiles: readonly number[], fractions: readonly number[], vectors: Float32Array | null): void {
    this.#end = end
    this.#tiles.push(...tiles)
    this.#fractions.push(...fractions)
    if (vectors) this.#vectors.push(vectors)
    const due = this.#end - this.#first >= this.#maxTiles || performance.now() - this.#posted >= MAX_WAIT_MS
    if (due) this.flush()
  }

  flush(): void {
    if (this.#end === this.#first) return
    const embeddings = new Float32Array(this.#vectors.reduce((sum, vector) => sum + vector.length, 0))
    let at = 0
    for (const vector of this.#vectors) {
      embeddings.set(vector, at)
      at += vector.length
    }
    const message: BatchMessage = {
      type: 'batch',
      first: this.#first,
      end: this.#end,
      tiles: Uint32Array.from(this.#tiles),
      validFractions: Float32Array.from(this.#fractions),
      embeddings,
    }
    this.#post(message, [message.tiles.buffer, message.validFractions.buffer, embeddings.buffer])
    this.#first = this.#end
    this.#posted = performance.now()
    this.#tiles = []
    this.#fractions = []
    this.#vectors = []
  }
}
