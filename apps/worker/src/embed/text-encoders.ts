import { TerraneError } from '@terrane/core'
import { openTextTower, type ModelStore, type TextTower } from '@terrane/embeddings'

/** Maximum models whose text encoder stays open; only encoders in use may exceed it. */
const OPEN_TOWERS = 2

interface OpenTower {
  readonly opening: Promise<TextTower>
  opened: boolean
  users: number
}

/** The text parts of the models that are in use. */
export class TextEncoders {
  readonly #models: Pick<ModelStore, 'acquireText'>
  /** By model, the least recently used first. */
  readonly #towers = new Map<string, OpenTower>()

  constructor(models: Pick<ModelStore, 'acquireText'>) {
    this.#models = models
  }

  /**
   * The vector of a text. `late` ends the wait.
   *
   * @throws MODEL_UNKNOWN, TEXT_UNSUPPORTED, TEXT_TOO_LONG, or the reason of `late`
   */
  async embed(model: string, text: string, late: AbortSignal): Promise<Float32Array> {
    const tower = this.#towers.get(model) ?? this.#openTower(model)
    this.#towers.delete(model)
    this.#towers.set(model, tower)
    tower.users++
    try {
      const embedding = tower.opening.then((open) => open.embed(text))
      return await Promise.race([embedding, aborted(late)])
    } catch (error) {
      const lost = error instanceof TerraneError && error.code === 'INFERENCE_THREAD_LOST'
      // A text that takes too long would block all others, so its thread is ended; the next query opens another.
      if (lost || (late.aborted && tower.opened)) {
        this.#forget(model, tower)
        await closeTower(tower)
      }
      throw error
    } finally {
      tower.users--
      await this.#closeIdle()
    }
  }

  #openTower(model: string): OpenTower {
    const opening = this.#models.acquireText(model).then((files) => openTextTower(files))
    const tower: OpenTower = { opening, opened: false, users: 0 }
    opening.then(
      () => (tower.opened = true),
      // The next query tries again, because the files may have been repaired.
      () => this.#forget(model, tower),
    )
    return tower
  }

  #forget(model: string, tower: OpenTower): void {
    if (this.#towers.get(model) === tower) this.#towers.delete(model)
  }

  async #closeIdle(): Promise<void> {
    for (const [model, tower] of this.#towers) {
      if (this.#towers.size <= OPEN_TOWERS) return
      if (tower.users > 0) continue
      this.#towers.delete(model)
      await closeTower(tower)
    }
  }

  async close(): Promise<void> {
    const towers = [...this.#towers.values()]
    this.#towers.clear()
    await Promise.all(towers.map(closeTower))
  }
}

async function closeTower({ opening }: OpenTower): Promise<void> {
  const tower = await opening.catch(() => null)
  await tower?.[Symbol.asyncDispose]()
}

/** Rejects with the signal's reason. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(signal.reason as Error)
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
}
