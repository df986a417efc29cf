import { readFile } from 'node:fs/promises'
import { serveThread, type ThreadMethods } from '@terrane/core/threads'
import { InferenceSession, Tensor, env } from 'onnxruntime-node'
import { embeddingNotFinite, inferenceFailed, modelMismatch, unopenedHint } from '../errors.ts'
import { singlePrecision } from '../engine/input-tensors.ts'
import type { TextManifest } from '../models/text-manifest.ts'
import type { TextMethods, TextSetup } from './text-tower.ts'
import { createTokenizer, type Tokens } from './tokens.ts'

const HINT =
  "Correct text in the manifest: ids, mask, output, tokenizer and dims are the graph's; or export a text graph that takes ids, " +
  'and perhaps a mask, alone.'

// `session.run` blocks the thread, so texts are embedded in order of arrival.
serveThread<TextSetup, TextMethods>(open)

async function open({ id, dims, graph, tokenizer, text, threads }: TextSetup): Promise<ThreadMethods<TextMethods>> {
  const mismatch = (problem: string, cause?: unknown, hint = HINT) => modelMismatch({ id, problem }, { cause, hint })
  const file = await readFile(tokenizer, 'utf8')
  const session = await InferenceSession.create(graph, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  }).catch((cause: unknown) => {
    throw mismatch(
      `the runtime cannot open its text graph: ${messageOf(cause)}`,
      cause,
      unopenedHint(env.versions.node),
    )
  })
  const problem = problemOf(session, text)
  if (problem !== null) throw mismatch(problem)
  const tokenize = openTokenizer(file, text, (cause) =>
    mismatch(`its tokenizer cannot be used: ${messageOf(cause)}`, cause),
  )
  const tensorOf = (name: string, values: readonly number[]): Tensor => {
    const metadata = session.inputMetadata.find((one) => one.name === name)
    const shape = [1, values.length]
    return metadata?.isTensor && metadata.type === 'int32'
      ? new Tensor('int32', Int32Array.from(values), shape)
      : new Tensor('int64', BigInt64Array.from(values, BigInt), shape)
  }
  const embed = async (words: string): Promise<Float32Array> => {
    const tokens = tokenize(words)
    const feeds = {
      [text.ids]: tensorOf(text.ids, tokens.ids),
      ...(text.mask !== undefined && { [text.mask]: tensorOf(text.mask, tokens.mask) }),
      ...(text.types !== undefined && {
        [text.types]: tensorOf(
          text.types,
          tokens.ids.map(() => 0),
        ),
      }),
    }
    const output = await session.run(feeds, [text.output]).catch((cause: unknown) => {
      throw inferenceFailed({ id, why: messageOf(cause) }, { cause })
    })
    const tensor = output[text.output]
    const numbers = tensor ? singlePrecision(tensor) : null
    const rows = text.pooling === undefined ? 1 : tokens.ids.length
    if (numbers?.length !== rows * dims) {
      const shape = text.pooling === undefined ? [1, dims] : [1, rows, dims]
      throw mismatch(`text output ${text.output} is [${tensor?.dims.join(', ')}] and should be [${shape.join(', ')}]`)
    }
    const data = text.pooling === 'mean-tokens' ? sumTokens(numbers, tokens.mask) : numbers.subarray(0, dims)
    const length = Math.hypot(...data)
    if (!Number.isFinite(length)) throw embeddingNotFinite({ id, tile: 0 })
    return Float32Array.from(data, (value) => (length > 0 ? value / length : 0))
  }
  return { embed }
}

/** @param unusable makes the error for a file that is not a tokenizer */
function openTokenizer(
  json: string,
  text: TextManifest,
  unusable: (cause: unknown) => Error,
): (words: string) => Tokens {
  try {
    return createTokenizer(JSON.parse(json) as object, text)
  } catch (cause) {
    throw unusable(cause)
  }
}

/** Why a graph does not have the inputs and the output of its manifest; null if it has. */
function problemOf({ inputNames, outputNames }: InferenceSession, text: TextManifest): string | null {
  const wanted = [text.ids, text.mask, text.types].filter((name) => name !== undefined)
  const missing = wanted.find((name) => !inputNames.includes(name))
  if (missing !== undefined) return `its text graph has no input ${missing}, but ${inputNames.join(', ')}`
  const unfilled = inputNames.filter((name) => !wanted.includes(name))
  if (unfilled.length > 0) return `its text graph also needs ${unfilled.join(', ')}, which nothing fills`
  if (outputNames.includes(text.output)) return null
  return `its text graph has no output ${text.output}, but ${outputNames.join(', ')}`
}

/** The sum of the vectors of all tokens but padding. Of unit length it is their mean. */
function sumTokens(vectors: Float32Array, mask: readonly number[]): Float32Array {
  const dims = vectors.length / mask.length
  const sum = new Float32Array(dims)
  for (const [i, value] of vectors.entries()) sum[i % dims]! += value * mask[Math.floor(i / dims)]!
  return sum
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
