import { OnnxGraph } from './graph.ts'

/** The files of a model with an image part and a text part. */
export interface ClipFiles {
  readonly image: Uint8Array
  readonly text: Uint8Array
  /** The content of its `tokenizer.json`. */
  readonly tokenizer: object
}

const COLORS = { 'red</w>': [1, 0, 0], 'green</w>': [0, 1, 0], 'blue</w>': [0, 0, 1] } as const
const SPECIAL = ['<|startoftext|>', '<|endoftext|>'] as const
const MERGES = ['r e', 're d</w>', 'e n</w>', 'g re', 'gre en</w>', 'b l', 'u e</w>', 'bl ue</w>'] as const

/**
 * A pair of models in the form of CLIP for three colours: the embedding of a tile is its mean red, green and blue, that
 * of a text is the sum of its words. For tests and examples.
 */
export function buildColorClip(): ClipFiles {
  const words = tokens()
  return { image: imageGraph(), text: textGraph(words), tokenizer: tokenizerOf(words) }
}

/** Letters, ends of words, results of merges, and the start and end tokens. */
function tokens(): string[] {
  const letters = 'abcdefghijklmnopqrstuvwxyz'.split('')
  return [...SPECIAL, ...letters, ...letters.map((letter) => `${letter}</w>`), ...MERGES.map((m) => m.replace(' ', ''))]
}

function imageGraph(): Uint8Array {
  const graph = new OnnxGraph('color-clip-image')
  const pixels = graph.input('pixel_values', ['batch', 3, 'height', 'width'])
  const mean = graph.op('Reshape', [graph.op('GlobalAveragePool', [pixels]), graph.ints([-1, 3])])
  graph.output('image_embeds', ['batch', 3], mean)
  return graph.encode()
}

function textGraph(words: readonly string[]): Uint8Array {
  const graph = new OnnxGraph('color-clip-text')
  const ids = graph.input('input_ids', ['batch', 'tokens'], 'int64')
  const mask = graph.cast(graph.input('attention_mask', ['batch', 'tokens'], 'int64'), 'float32')
  // Without the mask, the end token (also used for padding) would dominate the words; it has a small value in all
  // dimensions.
  const rows = words.flatMap((word) => COLORS[word as keyof typeof COLORS] ?? [0.001, 0.001, 0.001])
  const vectors = graph.op('Gather', [graph.floats([words.length, 3], rows), ids], { axis: 0 })
  const kept = graph.op('Mul', [vectors, graph.op('Unsqueeze', [mask, graph.ints([2])])])
  graph.output('text_embeds', ['batch', 3], graph.op('ReduceSum', [kept, graph.ints([1])], { keepdims: 0 }))
  return graph.encode()
}

function tokenizerOf(words: readonly string[]): object {
  const [start, end] = SPECIAL
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: { type: 'Lowercase' },
    pre_tokenizer: { type: 'Whitespace' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: start, type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: end, type_id: 0 } },
      ],
      pair: [],
      special_tokens: {
        [start]: { id: start, ids: [0], tokens: [start] },
        [end]: { id: end, ids: [1], tokens: [end] },
      },
    },
    decoder: null,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: end,
      continuing_subword_prefix: '',
      end_of_word_suffix: '</w>',
      fuse_unk: false,
      vocab: Object.fromEntries(words.map((word, id) => [word, id])),
      merges: [...MERGES],
    },
  }
}
