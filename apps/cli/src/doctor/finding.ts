/** Result of a check. */
export interface Finding {
  /** Stable name of the check. */
  readonly check: string
  readonly state: 'fine' | 'wrong' | 'unknown'
  readonly message: string
  /** The remedy; absent when all is fine. */
  readonly remedy?: string
}

export interface CheckContext {
  readonly env: NodeJS.ProcessEnv
  readonly profile: string | undefined
}

/** One check. It never throws; something that it cannot examine is also a finding. */
export type Check = (context: CheckContext) => Promise<readonly Finding[]>

export function fine(check: string, message: string): Finding {
  return { check, state: 'fine', message }
}

export function wrong(check: string, message: string, remedy: string): Finding {
  return { check, state: 'wrong', message, remedy }
}
