import type { Job, JobPage } from './jobs.ts'

/** Reads a page of one task's jobs, newest first. */
export type ReadPage = (task: string, cursor: string | null) => Promise<JobPage>

interface Source {
  readonly task: string
  buffer: readonly Job[]
  cursor: string | null
  ended: boolean
}

/**
 * The jobs of several tasks as one list, newest first. The worker lists each task separately. The feed keeps a page of
 * each and takes the newest jobs of them, so that none is left out or shown twice.
 */
export class JobFeed {
  readonly #sources: Source[]
  readonly #readPage: ReadPage

  constructor(tasks: readonly string[], readPage: ReadPage) {
    this.#sources = tasks.map((task) => ({ task, buffer: [], cursor: null, ended: false }))
    this.#readPage = readPage
  }

  /** True when there may be more jobs. */
  get hasMore(): boolean {
    return this.#sources.some((source) => !source.ended || source.buffer.length > 0)
  }

  /** The next jobs, at most `count`. */
  async next(count: number): Promise<Job[]> {
    const jobs: Job[] = []
    while (jobs.length < count) {
      await this.#fill()
      const newest = this.#sources
        .filter((source) => source.buffer.length > 0)
        .toSorted((a, b) => (isNewer(a.buffer[0] as Job, b.buffer[0] as Job) ? -1 : 1))[0]
      if (!newest) break
      jobs.push(newest.buffer[0] as Job)
      newest.buffer = newest.buffer.slice(1)
    }
    return jobs
  }

  async #fill(): Promise<void> {
    const dry = this.#sources.filter((source) => source.buffer.length === 0 && !source.ended)
    await Promise.all(
      dry.map(async (source) => {
        const page = await this.#readPage(source.task, source.cursor)
        source.buffer = page.data
        source.cursor = page.next_cursor
        source.ended = page.next_cursor === null
      }),
    )
  }
}

function isNewer(a: Job, b: Job): boolean {
  return a.created_at === b.created_at ? a.job_id > b.job_id : a.created_at > b.created_at
}
