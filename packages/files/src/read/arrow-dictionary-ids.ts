import { DictionaryBatch } from 'apache-arrow/fb/dictionary-batch'
import { DictionaryEncoding } from 'apache-arrow/fb/dictionary-encoding'

const numbers = new Map<bigint, bigint>()

/**
 * Has the library read dictionaries of any id. Ids are 64 bits (Arrow, `Schema.fbs`), and some writers take hashes; the
 * library takes them for numbers and refuses those past 2^53.
 */
export function readAnyDictionaryId(): void {
  for (const { prototype } of [DictionaryEncoding, DictionaryBatch]) {
    const idOf = prototype.id
    prototype.id = function (this: never) {
      return numberOf(idOf.call(this))
    }
  }
}

/** Ids by the order in which they are met. */
function numberOf(id: bigint): bigint {
  const number = numbers.get(id) ?? BigInt(numbers.size)
  numbers.set(id, number)
  return number
}
