/** Wakes the slots that wait for a job of a task. */
export class WakeUps {
  readonly #waiting = new Map<string, PromiseWithResolvers<void>>()

  wake(task: string): void {
    this.#waiting.get(task)?.resolve()
    this.#waiting.delete(task)
  }

  /** Resolves at the next {@link wake} of the task. */
  next(task: string): Promise<void> {
    const waiting = this.#waiting.get(task) ?? Promise.withResolvers<void>()
    this.#waiting.set(task, waiting)
    return waiting.promise
  }
}
