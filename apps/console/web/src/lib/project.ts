/** A project as the console tells it. */
export interface Project {
  readonly ref: string
  readonly name: string
  readonly organization: { readonly id: string; readonly name: string }
  readonly created_at: string
  /** Which services are configured. */
  readonly services: Readonly<Record<'worker' | 'data' | 'routing' | 'functions', boolean>>
}
