import { list, number, nullable, oneOf, optional, record, text } from './checks.ts'

/** One file of a model. */
export interface ModelFile {
  /** Relative to the model's folder; a graph refers to its external data by this place. */
  readonly path: string
  /** URL for the download; null when an operator must install the file. */
  readonly url: string | null
  /** Bytes; null when not pinned. */
  readonly size: number | null
  /** Lower-case hex; null when not pinned. */
  readonly sha256: string | null
}

/** The part of a model that embeds texts into the space of its tiles, as in CLIP and similar models. */
export interface TextManifest {
  /** The graph first, then its external data, and the tokenizer's file; all in the folder of the model's files. */
  readonly files: readonly ModelFile[]
  /** Path of the `tokenizer.json` among them, as Hugging Face's tokenizers write it. */
  readonly tokenizer: string
  /** Input of the tokens' ids, `[batch, tokens]` of int64 or int32. */
  readonly ids: string
  /** Name of the input with 1 for tokens and 0 for padding; absent when the graph has none. */
  readonly mask?: string | undefined
  /** Name of the input with the kind of each token, all 0, as BERT has it; absent when the graph has none. */
  readonly types?: string | undefined
  /** Output: `[batch, dims]`, or with a pooling `[batch, tokens, dims]`. */
  readonly output: string
  /** How an output of tokens becomes one vector: the first token, or the mean without padding. */
  readonly pooling?: 'first-token' | 'mean-tokens' | undefined
  /** Maximum number of tokens of a text, including the first and the last. */
  readonly length: number
  /** Id of the padding token up to `length`; absent when the graph accepts any length. */
  readonly pad?: number | undefined
}

export const FILES = list(
  record({
    path: text(/^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9._/-]*$/, 'must be a relative path without ".."'),
    url: nullable(text(/^https?:\/\/\S+$/, 'must be a URL or null')),
    size: nullable(number(1, 2 ** 40, true)),
    sha256: nullable(text(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits or null')),
  }),
  1,
  64,
)

export const TEXT = record({
  files: FILES,
  tokenizer: text(),
  ids: text(),
  mask: optional(text()),
  types: optional(text()),
  output: text(),
  pooling: optional(oneOf('first-token', 'mean-tokens')),
  length: number(2, 4096, true),
  pad: optional(number(0, 2 ** 31, true)),
})
