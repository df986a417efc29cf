import { Tokenizer } from '@huggingface/tokenizers'
import { textTooLong } from '../errors.ts'
import type { TextManifest } from '../models/text-manifest.ts'

/** The ids of a text's tokens, and an attention mask: 1 for tokens, 0 for padding. */
export interface Tokens {
  readonly ids: readonly number[]
  readonly mask: readonly number[]
}

/**
 * Turns texts into tokens by a model's own `tokenizer.json`. The manifest decides maximum length and padding, not the
 * tokenizer file.
 *
 * @throws TEXT_TOO_LONG from the returned function; texts are never truncated
 */
export function createTokenizer(json: object, { length, pad }: TextManifest): (text: string) => Tokens {
  const tokenizer = new Tokenizer(json, {})
  return (text) => {
    const { ids } = tokenizer.encode(text)
    if (ids.length > length) throw textTooLong({ tokens: ids.length, limit: length })
    const fill = pad === undefined ? 0 : length - ids.length
    return {
      ids: [...ids, ...Array.from({ length: fill }, () => pad ?? 0)],
      mask: [...ids.map(() => 1), ...Array.from({ length: fill }, () => 0)],
    }
  }
}
