/** One text per column, null for null. */
export type CopyTextRow = (string | null)[]

const NEWLINE = 10
const TAB = 9
const BACKSLASH = 92
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** Rows of whole lines of COPY's text format (PostgreSQL manual, COPY). Octal and hexadecimal escapes are not known. */
export function decodeCopyText(lines: Buffer): CopyTextRow[] {
  const rows: CopyTextRow[] = []
  for (let at = 0; at < lines.length;) {
    const end = unescaped(lines, NEWLINE, at)
    rows.push(decodeRow(lines.subarray(at, end)))
    at = end + 1
  }
  return rows
}

/** The lines that {@link decodeCopyText} reads these rows from. */
export function encodeCopyText(rows: readonly CopyTextRow[]): Buffer {
  return Buffer.from(rows.map((row) => `${row.map(encodeField).join('\t')}\n`).join(''))
}

function encodeField(text: string | null): string {
  return text === null ? '\\N' : text.replaceAll(/[\\\t\n\r]/g, '\\$&')
}

function decodeRow(line: Buffer): CopyTextRow {
  const row: CopyTextRow = []
  for (let at = 0; at <= line.length;) {
    const end = unescaped(line, TAB, at)
    row.push(decodeField(line, at, end))
    at = end + 1
  }
  return row
}

function decodeField(bytes: Buffer, start: number, end: number): string | null {
  if (end - start === 2 && bytes[start] === BACKSLASH && bytes[start + 1] === 78) return null
  const text = bytes.toString('utf8', start, end)
  return text.includes('\\') ? text.replaceAll(/\\([\s\S])/g, (_, c: string) => ESCAPES[c] ?? c) : text
}

/** Where the next such byte stands that does not follow a backslash, or the end. */
function unescaped(bytes: Buffer, byte: number, start: number): number {
  let at = bytes.indexOf(byte, start)
  while (at >= 0 && isEscaped(bytes, start, at)) at = bytes.indexOf(byte, at + 1)
  return at < 0 ? bytes.length : at
}

/** Whether the byte at `at` follows an odd number of backslashes, none of them before `start`. */
export function isEscaped(bytes: Buffer, start: number, at: number): boolean {
  let backslashes = 0
  while (at - backslashes > start && bytes[at - backslashes - 1] === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}
