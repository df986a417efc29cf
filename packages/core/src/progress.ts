/** Progress of a long operation. `done` and `total` are counts of `unit`; `total` is null while it is unknown. */
export interface Progress {
  readonly phase: string
  readonly done: number
  readonly total: number | null
  readonly unit: string
  readonly message?: string
}

/** Receives progress; called as often as the operation likes, so the receiver throttles. */
export type OnProgress = (progress: Progress) => void
