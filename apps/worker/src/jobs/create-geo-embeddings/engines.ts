import { openEngine, type Engine, type EngineOptions, type Model } from '@terrane/embeddings'

interface Entry {
  readonly key: string
  readonly engine: Promise<Engine>
  users: number
}

/**
 * The engine of the model that was used last, kept open: a session that is made and released per job leaks memory in the
 * runtime. Another model takes its place once nobody uses it any more.
 */
export class Engines implements AsyncDisposable {
  private readonly options: EngineOptions
  private readonly entries = new Map<string, Entry>()

  constructor(options: EngineOptions) {
    this.options = options
  }

  /** Runs `work` with the engine of a model. A failing engine is not kept. */
  async use<T>(model: Model, work: (engine: Engine) => Promise<T>): Promise<T> {
    const key = `${model.manifest.id} ${model.sha256}`
    let entry = this.entries.get(key)
    if (!entry) {
      await this.closeUnused()
      entry = this.entries.get(key) ?? { key, engine: openEngine(model, this.options), users: 0 }
      this.entries.set(key, entry)
    }
    entry.users++
    try {
      return await work(await entry.engine)
    } catch (error) {
      this.entries.delete(key)
      entry.engine.then((engine) => engine.close()).catch(() => {})
      throw error
    } finally {
      entry.users--
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      [...this.entries.values()].map((entry) => entry.engine.then((engine) => engine.close()).catch(() => {})),
    )
    this.entries.clear()
  }

  private async closeUnused(): Promise<void> {
    for (const entry of this.entries.values()) {
      if (entry.users > 0) continue
      this.entries.delete(entry.key)
      await entry.engine.then((engine) => engine.close()).catch(() => {})
    }
  }
}
