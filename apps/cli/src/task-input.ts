import type { Connection } from './connection.ts'
import { upload, type StoredFile } from './files.ts'
import { progressLine } from './output.ts'

/** Uploads a file and shows the progress. */
export async function bring(connection: Connection, file: string): Promise<StoredFile> {
  const line = progressLine()
  try {
    return await upload(connection, file, (percent) => line.show(percent, `upload ${file}`))
  } finally {
    line.end()
  }
}

/** A table name derived from a file. */
export async function nameOf(file: string): Promise<string> {
  const { tableNameOf } = await import('@terrane/core')
  return tableNameOf(file)
}

/** Whether a file is named by its address. */
export function isAddress(file: string): boolean {
  return /^https?:\/\//.test(file)
}

/** Text with examples for the help of a command. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ terrane ${line}`).join('\n')}`
}
