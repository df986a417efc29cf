const WIDTH = 32

/** Draws progress: one line that is overwritten on a terminal, otherwise a line per tenth. */
export class ProgressBar {
  readonly #title: string
  #lastTenth = -1
  #drawn = false

  constructor(title: string) {
    this.#title = title
  }

  show(percent: number, text: string): void {
    if (!process.stdout.isTTY) {
      const tenth = Math.floor(percent / 10)
      if (tenth > this.#lastTenth) process.stdout.write(`${this.#title} ${percent.toFixed(0)} % ${text}\n`)
      this.#lastTenth = Math.max(tenth, this.#lastTenth)
      return
    }
    const filled = Math.round((percent / 100) * WIDTH)
    process.stdout.write(
      `\r\u001b[K${this.#title} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${percent.toFixed(0)} % ${text}`,
    )
    this.#drawn = true
  }

  end(): void {
    if (this.#drawn) process.stdout.write('\n')
  }
}
