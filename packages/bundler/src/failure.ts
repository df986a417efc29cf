import type { BuildFailure, Message } from 'esbuild'
import { bundleFailed } from './errors.ts'
import { FETCHABLE } from './plugins/specifiers.ts'

/** Cause of a bundle error: the problems that can be fixed without changing the function's code. */
export interface BundleFailure {
  /** Names of packages that are not installed. */
  readonly missing: readonly string[]
  /** Whether something is imported that could be fetched. */
  readonly fetchable: boolean
  /** True when the fetch failed and a later attempt may succeed. */
  readonly isRetryable?: boolean
  /** True when the network or a server failed, which is temporary. */
  readonly isPassing?: boolean
}

/** FUNCTION_BUNDLE_FAILED for the problems that esbuild found; returns any other error unchanged. */
export function failureOf(error: unknown): Error {
  if (!isBuildFailure(error)) return error as Error
  const cause: BundleFailure = {
    missing: missingIn(error.errors),
    fetchable: error.errors.some(({ detail }) => detail === FETCHABLE),
  }
  return bundleFailed({ problems: error.errors.map(describe) }, { cause })
}

function missingIn(errors: readonly Message[]): string[] {
  const pattern = /^(?:Could not resolve "|'(?:npm|jsr):\/?)((?:@[\w.-]+\/)?\w[\w.-]*)/
  const names = errors.map(({ text }) => pattern.exec(text)?.[1]).filter((name) => name !== undefined)
  return [...new Set(names)]
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors)
}

/** A message of esbuild as `file:line: text`. */
export function describe({ text, location }: Message): string {
  return location ? `${location.file.replace(/^uploaded:/, '')}:${location.line}: ${text}` : text
}
