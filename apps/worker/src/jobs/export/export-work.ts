import type { Warnings } from '@terrane/core/errors'
import type { ReferenceSystem, Scanner } from '@terrane/exports'
import type { Engine } from '@terrane/files'

/** Dependencies of an export besides its source. */
export interface ExportWork {
  readonly scan: Scanner
  readonly systems: readonly ReferenceSystem[]
  readonly engine: Engine
  readonly workdir: string
  readonly signal: AbortSignal
  readonly warnings: Warnings
  readonly onRows: (rows: number) => void
}
