import { DictionaryBatch } from 'apache-arrow/fb/dictionary-batch'
import { DictionaryEncoding } from 'apache-arrow/fb/dictionary-encoding'

const numbers = new Map<bigint, bigint>()

/**
 * Makes the library accept dictionaries with any id. Ids have 64 bits (Arrow, `Schema.fbs`), and some writers use
 * hashes; the library converts ids to numbers and refuses those past 2^53.
 */
export function readAnyDictionaryId(): void {
  for (const { prototype } of [DictionaryEncoding, DictionaryBatch]) {
    const idOf = prototype.id
    prototype.id = function (this: never) {
      return numberOf(idOf.call(this))
    }
  }
}

/** Number of an id, in the order of first use. */
function numberOf(id: bigint): bigint {
  const number = numbers.get(id) ?? BigInt(numbers.size)
  numbers.set(id, number)
  return number
}
