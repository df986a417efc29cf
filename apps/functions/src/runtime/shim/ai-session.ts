/** Options of a run, as on Supabase. Vectors are always pooled and of unit length. */
interface RunOptions {
  readonly mean_pool?: boolean
  readonly normalize?: boolean
}

/**
 * The class `Supabase.ai.Session`. `run(text)` resolves to the vector of a text; the worker computes it with the text
 * part of a model.
 */
export function sessionClass(send: typeof fetch): new (model: string) => object {
  return class Session {
    readonly #model: string

    constructor(model: string) {
      if (typeof model !== 'string' || model === '') throw new TypeError('Supabase.ai.Session: name a model')
      this.#model = model
    }

    async run(text: string, { mean_pool: pooled = true, normalize = true }: RunOptions = {}): Promise<number[]> {
      if (typeof text !== 'string')
        throw new TypeError('Supabase.ai.Session: run takes one text; chat models are not offered')
      if (!pooled || !normalize) {
        throw new TypeError(
          'Supabase.ai.Session: vectors are pooled and normalized here, so leave out mean_pool and normalize',
        )
      }
      const response = await send('http://ai.internal/', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ modelName: this.#model, text }),
      })
      const answer = (await response.json()) as { embedding: number[]; message?: string; hint?: string | null }
      if (response.ok) return answer.embedding
      const why = answer.message ?? `HTTP status ${response.status}`
      throw new Error([`Supabase.ai.Session '${this.#model}': ${why}`, answer.hint].filter(Boolean).join('. '))
    }
  }
}
