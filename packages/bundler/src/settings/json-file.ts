import { readFile } from 'node:fs/promises'
import stripJsonComments from 'strip-json-comments'
import { bundleFailed } from '../errors.ts'

/** Fields of deno.json, import_map.json, package.json and tsconfig.json that are read. */
export interface JsonSettings {
  readonly workspace?: unknown
  readonly workspaces?: unknown
  readonly name?: unknown
  readonly exports?: unknown
  readonly main?: unknown
  readonly module?: unknown
  readonly imports?: unknown
  readonly dependencies?: unknown
  readonly devDependencies?: unknown
  readonly importMap?: unknown
  readonly compilerOptions?: {
    readonly jsx?: unknown
    readonly jsxImportSource?: unknown
    readonly experimentalDecorators?: unknown
    readonly emitDecoratorMetadata?: unknown
    readonly baseUrl?: unknown
    readonly paths?: unknown
  }
}

/** Reads a JSON file that may have comments and trailing commas; null without one. @throws FUNCTION_BUNDLE_FAILED */
export async function readJsonFile(file: string): Promise<JsonSettings | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return null
  try {
    return JSON.parse(stripJsonComments(text, { trailingCommas: true })) as JsonSettings | null
  } catch (error) {
    throw bundleFailed({ problems: [`${file}: ${(error as Error).message}`] })
  }
}
