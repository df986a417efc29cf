import { posix } from 'node:path'
import type { JsonSettings } from './json-file.ts'

/** Transformation of JSX to calls. */
export interface JsxSettings {
  readonly jsx: 'automatic' | 'transform'
  readonly jsxImportSource?: string
}

/** The `compilerOptions` that change how code is read. */
export interface CompilerSettings {
  /** Null when the options do not configure JSX. */
  readonly jsx: JsxSettings | null
  readonly experimentalDecorators: boolean
  /** Whether decorators need metadata with the types of their targets. */
  readonly decoratorMetadata: boolean
}

/** Reads the `compilerOptions` of a deno.json or tsconfig.json. */
export function readCompilerOptions(settings: JsonSettings | null): CompilerSettings {
  const options = settings?.compilerOptions
  return {
    jsx: jsxOf(options),
    experimentalDecorators: options?.experimentalDecorators === true,
    decoratorMetadata: options?.emitDecoratorMetadata === true,
  }
}

function jsxOf(options: JsonSettings['compilerOptions']): JsxSettings | null {
  if (options?.jsx === 'react') return { jsx: 'transform' }
  if (options?.jsx !== 'react-jsx' && options?.jsx !== 'react-jsxdev' && options?.jsx !== 'precompile') return null
  const source = options.jsxImportSource
  return { jsx: 'automatic', ...(typeof source === 'string' && { jsxImportSource: source }) }
}

const IS_TYPES = /node_modules|\.d\.[cm]?ts$/

/**
 * Import map of the `paths` of a tsconfig.json, relative to the file: names, and prefixes such as `@/*`. Those with
 * several places are left to the bundler, which looks for the file in each.
 */
export function importsOfPaths(settings: JsonSettings | null): Record<string, string> {
  const { paths, baseUrl } = settings?.compilerOptions ?? {}
  const base = typeof baseUrl === 'string' ? baseUrl : '.'
  const imports: Record<string, string> = {}
  for (const [name, targets] of Object.entries<unknown>({ ...(paths as object | undefined) })) {
    const target: unknown = Array.isArray(targets) && targets.length === 1 ? targets[0] : null
    if (typeof target !== 'string' || IS_TYPES.test(target)) continue
    // A name that is `*` alone would be one for all packages.
    if (/^\*|\*./.test(name) || name.endsWith('/*') !== target.endsWith('/*')) continue
    imports[name.replace(/\*$/, '')] = `./${posix.join(base, target.replace(/\*$/, ''))}`
  }
  return imports
}
