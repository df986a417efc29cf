// oxlint-disable-next-line typescript/triple-slash-reference -- Packages that import this one need the declaration, too.
/// <reference path="./unbzip2-stream.d.ts" />
import unbzip2 from 'unbzip2-stream'
import { osmMalformed, osmTooLarge, osmTruncated } from './errors.ts'

/** Most growth of packed data: OpenStreetMap XML grows by 10 to 20. */
const MOST_RATIO = 100
/** Unpacked data below this size are exempt. */
const SMALL_BYTES = 8 * 1024 * 1024
/** Packed bytes that are given to the decoder at once; it holds a block of up to 900 kB. */
const SLICE_BYTES = 4096

/**
 * Unpacks bzip2, also of several streams behind each other as parallel packers write them.
 *
 * @throws OSM_TRUNCATED, OSM_MALFORMED, OSM_TOO_LARGE
 */
export async function* bunzip(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const decoder = unbzip2()
  let failure: Error | null = null
  let ready: Uint8Array[] = []
  let taken = 0
  let given = 0
  decoder.on('error', (error) => (failure ??= error))
  decoder.on('data', (bytes) => {
    given += bytes.length
    const limit = Math.max(SMALL_BYTES, taken * MOST_RATIO)
    // The decoder catches it, ends, and emits it.
    if (given > limit) throw osmTooLarge({ what: 'The unpacked bzip2 data', size: given, limit })
    ready.push(bytes)
  })
  const take = () => {
    if (failure) throw refusal(failure, taken)
    const blocks = ready
    ready = []
    return blocks
  }
  for await (const chunk of packed) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      const slice = chunk.subarray(at, at + SLICE_BYTES)
      taken += slice.length
      // Sources use the memory of a chunk again.
      decoder.write(slice.slice())
      yield* take()
    }
  }
  decoder.end()
  yield* take()
}

/** The decoder reads beyond its last byte where blocks are cut off. */
function refusal(cause: Error, at: number): Error {
  if ('code' in cause && cause.code === 'OSM_TOO_LARGE') return cause
  if (cause instanceof TypeError || cause.message.includes('prematurely'))
    return osmTruncated({ at, wanted: 'more bzip2 data' }, { cause })
  return osmMalformed({ what: 'its bzip2 data is damaged' }, { cause })
}
